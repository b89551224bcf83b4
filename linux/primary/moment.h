/* SPDX-License-Identifier: GPL-2.0-only */
/* Points of time, in nanoseconds of a clock of Linux's, and when waits end. */
#ifndef PRIMARY_MOMENT_H
#define PRIMARY_MOMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "clock.h"

#define PRIMARY_SECOND 1000000000L

/* A time as nanoseconds; negative if it is none. */
static inline int64_t primary_ns(const struct timespec *time)
{
	if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= PRIMARY_SECOND ||
	    time->tv_sec > INT64_MAX / PRIMARY_SECOND - 1)
		return -1;
	return time->tv_sec * PRIMARY_SECOND + time->tv_nsec;
}

static inline struct timespec primary_timespec(int64_t ns)
{
	return (struct timespec){ ns / PRIMARY_SECOND, ns % PRIMARY_SECOND };
}

/* The time of a clock; negative if there is no such clock. */
static inline int64_t primary_now(clockid_t clock)
{
	struct timespec now;

	return primary_read_clock(clock, &now) ? -1 : primary_ns(&now);
}

/* When a wait ends: at a time of a clock. */
struct primary_end {
	clockid_t clock;
	int64_t ns;
};

/* In place of a clock. */
#define PRIMARY_NEVER (-1000)
#define PRIMARY_AT_ONCE (-1001)

#define PRIMARY_FOREVER ((struct primary_end){ PRIMARY_NEVER, 0 })
#define PRIMARY_TRY ((struct primary_end){ PRIMARY_AT_ONCE, 0 })
#define PRIMARY_UNTIL(clock, ns) ((struct primary_end){ clock, ns })

#endif
