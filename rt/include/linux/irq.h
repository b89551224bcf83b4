/* As <asm/irq.h>. */
#ifndef LINUX_IRQ_H
#define LINUX_IRQ_H

#include <asm/irq.h>

#endif
