/* SPDX-License-Identifier: GPL-2.0-only */
/* The device /dev/pillion-psc. */
#ifndef PSC_H
#define PSC_H

int psc_open(void);
void psc_close(void);

#endif
