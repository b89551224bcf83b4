/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LATER_H
#define LATER_H

#include <evl/evl.h>

#include "../check.h"

/* A time of EVL's monotonic clock, that long from now. */
static inline struct timespec later(long ns)
{
	struct timespec time;

	check(!evl_read_clock(EVL_CLOCK_MONOTONIC, &time));
	time.tv_nsec += ns;
	time.tv_sec += time.tv_nsec / SECOND;
	time.tv_nsec %= SECOND;
	return time;
}

#endif
