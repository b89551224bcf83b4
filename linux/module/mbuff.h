/* SPDX-License-Identifier: GPL-2.0-only */
/* The device /dev/mbuff. */
#ifndef MBUFF_H
#define MBUFF_H

int mbuff_open(void);
void mbuff_close(void);

#endif
