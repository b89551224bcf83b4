/* As <asm/irq.h>. */
#ifndef ASM_HW_IRQ_H
#define ASM_HW_IRQ_H

#include <asm/irq.h>

#endif
