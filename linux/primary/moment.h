/* SPDX-License-Identifier: GPL-2.0-only */
/* Points of time, in nanoseconds of a clock of Linux's, and when waits end. */
#ifndef PRIMARY_MOMENT_H
#define PRIMARY_MOMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "clock.h"

#define PRIMARY_SECOND 1000000000L

/* A sum of times, or a product; what would be more than INT64_MAX, which never comes, is that. */
static inline int64_t primary_sum(int64_t ns, int64_t more)
{
	int64_t sum;

	return __builtin_add_overflow(ns, more, &sum) ? INT64_MAX : sum;
}

static inline int64_t primary_times(int64_t ns, int64_t times)
{
	int64_t product;

	return __builtin_mul_overflow(ns, times, &product) ? INT64_MAX : product;
}

/* A time as nanoseconds; negative if it is none. */
static inline int64_t primary_ns(const struct timespec *time)
{
	if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= PRIMARY_SECOND)
		return -1;
	return primary_sum(primary_times(time->tv_sec, PRIMARY_SECOND), time->tv_nsec);
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

/* The time of a clock that many nanoseconds from now. */
static inline int64_t primary_later(clockid_t clock, int64_t ns)
{
	return primary_sum(primary_now(clock), ns);
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
