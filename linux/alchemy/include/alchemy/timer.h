/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times: ticks of CLOCK_MONOTONIC. One has a nanosecond, or as many as --alchemy-clock-resolution
 * says. Results of all of Alchemy's functions are 0, a value, or the negative number of an error.
 */
#ifndef _ALCHEMY_TIMER_H
#define _ALCHEMY_TIMER_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

typedef uint64_t ticks_t;
typedef int64_t sticks_t;
typedef ticks_t RTIME;
typedef sticks_t SRTIME;

#define TM_NOW ((RTIME)0)
#define TM_INFINITE ((RTIME)0)
#define TM_NONBLOCK ((RTIME)-1ULL)

#ifndef CLOCK_COPPERPLATE
#define CLOCK_COPPERPLATE CLOCK_MONOTONIC
#endif

/* The length of a tick, in nanoseconds, and the time. */
typedef struct rt_timer_info {
	RTIME period;
	RTIME date;
} RT_TIMER_INFO;

#ifdef __cplusplus
extern "C" {
#endif

RTIME rt_timer_read(void);
SRTIME rt_timer_ns2ticks(SRTIME ns);
SRTIME rt_timer_ticks2ns(SRTIME ticks);
int rt_timer_inquire(RT_TIMER_INFO *info);
void rt_timer_spin(RTIME ns);
/* The time-stamp counter. */
RTIME rt_timer_tsc(void);
SRTIME rt_timer_ns2tsc(SRTIME ns);
SRTIME rt_timer_tsc2ns(SRTIME ticks);

#ifdef __cplusplus
}
#endif

#endif
