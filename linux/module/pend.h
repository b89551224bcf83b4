/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts of Linux that tasks ask for. */
#ifndef PEND_H
#define PEND_H

void pend_open(unsigned int irq);
void pend_ring(void);
void pend_close(void);

#endif
