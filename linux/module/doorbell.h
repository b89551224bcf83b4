/* SPDX-License-Identifier: GPL-2.0-only */
/* The interrupt by which the real-time side says that there is something to look at. */
#ifndef DOORBELL_H
#define DOORBELL_H

int doorbell_open(void);
void doorbell_close(void);
unsigned int doorbell_irq(void);

#endif
