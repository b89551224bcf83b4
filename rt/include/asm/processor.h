/* As <linux/compiler.h>. */
#ifndef ASM_PROCESSOR_H
#define ASM_PROCESSOR_H

#include <linux/compiler.h>

#endif
