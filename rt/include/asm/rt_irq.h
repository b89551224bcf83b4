/* Interrupts of RTLinux's first interface. */
#ifndef ASM_RT_IRQ_H
#define ASM_RT_IRQ_H

#include <rtl_compat.h>

#endif
