/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/measure: interrupts on demand. One process waits in read(), which returns a struct
 * measure_stamps for each interrupt. Another one raises them: on the edu device by writing to its
 * registers, which mmap() provides, on the timer with MEASURE_ARM.
 */
#ifndef PILLION_MEASURE_H
#define PILLION_MEASURE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Values of the time-stamp counter. */
struct measure_stamps {
	/* When the timer was to interrupt; 0 for edu: whoever raised the interrupt knows when. */
	__u64 due;
	/* The first act of the interrupt's handler. */
	__u64 handled;
};

/* Selects the source of interrupts: MEASURE_EDU (ENODEV if there is none) or MEASURE_TIMER. */
#define MEASURE_SOURCE	_IO('M', 0)
#define MEASURE_EDU	0
#define MEASURE_TIMER	1

/* Arms the timer: the argument is a number of nanoseconds. */
#define MEASURE_ARM	_IO('M', 1)

/* Takes a mutex of the kernel's, and computes for that many nanoseconds before it releases it. */
#define MEASURE_HOLD	_IO('M', 2)

/* Writing this register of edu raises its interrupt. */
#define MEASURE_EDU_RAISE	0x60

#endif
