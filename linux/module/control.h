/* SPDX-License-Identifier: GPL-2.0-only */
/* The device /dev/pillion. */
#ifndef CONTROL_H
#define CONTROL_H

int control_open(void);
void control_close(void);

#endif
