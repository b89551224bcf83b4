/* Hints, and the cycle counter. */
#ifndef ASM_PROCESSOR_H
#define ASM_PROCESSOR_H

#include <asm/msr.h>
#include <linux/compiler.h>

#endif
