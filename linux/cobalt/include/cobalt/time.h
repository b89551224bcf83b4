/* SPDX-License-Identifier: GPL-2.0-only */
/* Clocks and timers. */
#pragma GCC system_header
#include_next <time.h>

#if !defined(_COBALT_TIME_H) && defined(CLOCK_MONOTONIC)
#define _COBALT_TIME_H

#include <cobalt/wrappers.h>

/* The clock of the host; Linux's clocks are the only ones here. */
#ifndef CLOCK_HOST_REALTIME
#define CLOCK_HOST_REALTIME CLOCK_REALTIME
#endif

struct timex;
struct sigevent;

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, clock_getres(clockid_t clock, struct timespec *resolution));
COBALT_DECL(int, clock_gettime(clockid_t clock, struct timespec *time));
COBALT_DECL(int, clock_settime(clockid_t clock, const struct timespec *time));
COBALT_DECL(int, clock_adjtime(clockid_t clock, struct timex *change));
COBALT_DECL(int, clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest));
COBALT_DECL(time_t, time(time_t *time));
COBALT_DECL(int, nanosleep(const struct timespec *time, struct timespec *rest));
COBALT_DECL(int, timer_create(clockid_t clock, struct sigevent *event, timer_t *timer));
COBALT_DECL(int, timer_delete(timer_t timer));
COBALT_DECL(int, timer_settime(timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *old));
COBALT_DECL(int, timer_gettime(timer_t timer, struct itimerspec *value));
COBALT_DECL(int, timer_getoverrun(timer_t timer));

#ifdef __cplusplus
}
#endif

#endif
