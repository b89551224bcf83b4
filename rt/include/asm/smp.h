/* Processors. */
#ifndef ASM_SMP_H
#define ASM_SMP_H

#include <linux/threads.h>

#endif
