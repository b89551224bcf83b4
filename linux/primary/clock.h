/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux's clocks, read by its vDSO where a thread in primary mode can do so. */
#ifndef PRIMARY_CLOCK_H
#define PRIMARY_CLOCK_H

#include <stdbool.h>
#include <time.h>

/* The process is marked from now on. */
void primary_clock_begin(void);
/* Whether clocks are read by system calls, since the vDSO would wait for Linux. */
bool primary_avoids_vdso(void);
/* Reads a clock. Returns 0, or -1 with `errno`. */
int primary_read_clock(clockid_t clock, struct timespec *time);

#endif
