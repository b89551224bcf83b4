/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux interrupts that tasks raise. */
#ifndef PEND_H
#define PEND_H

void pend_open(unsigned int irq);
void pend_ring(void);
void pend_close(void);

#endif
