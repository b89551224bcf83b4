/* SPDX-License-Identifier: GPL-2.0-only */
/* Times as RTLinux's programs in Linux know them: nanoseconds, converted to and from timespec. */
#ifndef RTL_TIME_H
#define RTL_TIME_H

#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef long long hrtime_t;
#define HRTIME_INFINITY 0x7fffffffffffffffLL
#define NSECS_PER_SEC 1000000000

/* The time that tasks see; -1 if there are no tasks. */
hrtime_t gethrtime(void);

static inline hrtime_t timespec_to_ns(const struct timespec *t)
{
	return (hrtime_t)t->tv_sec * NSECS_PER_SEC + t->tv_nsec;
}

/* The result has 0 to NSECS_PER_SEC - 1 in tv_nsec, whatever the sign. */
static inline struct timespec timespec_from_ns(hrtime_t ns)
{
	struct timespec t = { ns / NSECS_PER_SEC, ns % NSECS_PER_SEC };

	if (t.tv_nsec < 0) {
		t.tv_nsec += NSECS_PER_SEC;
		t.tv_sec--;
	}
	return t;
}

#define timespec_normalize(t) ((void)(*(t) = timespec_from_ns(timespec_to_ns(t))))
#define timespec_add_ns(t, ns) ((void)(*(t) = timespec_from_ns(timespec_to_ns(t) + (ns))))
#define timespec_add(t1, t2) timespec_add_ns(t1, timespec_to_ns(t2))
#define timespec_sub(t1, t2) timespec_add_ns(t1, -timespec_to_ns(t2))
#define timespec_nz(t) ((t)->tv_sec != 0 || (t)->tv_nsec != 0)
#define timespec_lt(t1, t2) (timespec_to_ns(t1) < timespec_to_ns(t2))
#define timespec_gt(t1, t2) timespec_lt(t2, t1)
#define timespec_ge(t1, t2) (!timespec_lt(t1, t2))
#define timespec_le(t1, t2) (!timespec_lt(t2, t1))
#define timespec_eq(t1, t2) (timespec_to_ns(t1) == timespec_to_ns(t2))

#ifdef __cplusplus
}
#endif

#endif
