/* SPDX-License-Identifier: GPL-2.0-only */
/* The interrupt with which the real-time side reports that there is something to check. */
#ifndef DOORBELL_H
#define DOORBELL_H

int doorbell_open(void);
void doorbell_close(void);
unsigned int doorbell_irq(void);

#endif
