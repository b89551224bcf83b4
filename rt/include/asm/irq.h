/* Interrupt lines. */
#ifndef ASM_IRQ_H
#define ASM_IRQ_H

#ifndef NR_IRQS
#define NR_IRQS 224
#endif

#endif
