// SPDX-License-Identifier: GPL-2.0-only
/* Sleeps and clocks. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "test.h"

#define SLEEPS 1000
#define READINGS 1000

static const clockid_t sleepable[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI };
static const clockid_t readable[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI, CLOCK_MONOTONIC_RAW };

/* No sleep ends early. */
void times(void)
{
	int64_t length, begin, late, latest = 0;
	unsigned int i;
	clockid_t clock;
	long result;

	enter();
	for (i = 0; i < SLEEPS; i++) {
		clock = sleepable[i / 2 % COUNT(sleepable)];
		length = random() % (500 * MICROSECOND);
		begin = now(CLOCK_MONOTONIC);
		result = i % 2 ? sleep_for(clock, length, NULL) : sleep_until(clock, now(clock) + length);
		late = now(CLOCK_MONOTONIC) - begin - length;
		check(!result, "sleep %u by clock %d: %ld", i, clock, result);
		check(late >= 0, "sleep %u by clock %d is %lld ns early", i, clock, (long long)-late);
		if (late > latest)
			latest = late;
	}
	/* What is over by then. */
	for (i = 0; i < COUNT(sleepable); i++) {
		check(!sleep_until(sleepable[i], now(sleepable[i])), "a sleep until now");
		check(!sleep_until(sleepable[i], 0), "a sleep until long ago");
		check(!sleep_for(sleepable[i], 0, NULL), "a sleep for no time");
	}
	check_entries(1);
	tell("at most %lld us late", (long long)latest / 1000);
}

/* The time in Linux, of its own reader where there is one. */
static int64_t now_in_linux(clockid_t clock)
{
	struct timespec time;

	to_linux();
	check(!clock_gettime(clock, &time), "clock_gettime(%d)", clock);
	return ns_of(time);
}

/* Clocks are the same in both modes. */
void clocks(void)
{
	int64_t before, between, after;
	struct timespec time;
	unsigned int i;
	clockid_t clock;

	enter();
	for (i = 0; i < READINGS * COUNT(readable); i++) {
		clock = readable[i % COUNT(readable)];
		before = now_in_linux(clock);
		to_primary();
		between = now(clock);
		check(before <= between, "clock %d is %lld ns behind in primary mode", clock, (long long)(before - between));
		/* Another reader, which is Linux's own, in primary mode. */
		check(!clock_gettime(clock, &time), "clock_gettime(%d)", clock);
		check(between <= ns_of(time), "clock %d is %lld ns ahead in primary mode", clock,
		      (long long)(between - ns_of(time)));
		before = now(clock);
		check(ns_of(time) <= before, "clock %d is %lld ns behind its reader", clock, (long long)(ns_of(time) - before));
		after = now_in_linux(clock);
		check(before <= after, "clock %d is %lld ns ahead in primary mode", clock, (long long)(before - after));
	}
	check_entries(READINGS);
}

static struct {
	pthread_t thread;
	int64_t ordinary;
	int64_t urgent;
	bool ends;
} readings;

/* Reads a clock all the time in Linux. */
static void *reads(void *nothing)
{
	struct timespec time;
	int64_t urgent;

	(void)nothing;
	while (!__atomic_load_n(&readings.ends, __ATOMIC_ACQUIRE)) {
		urgent = __atomic_load_n(&readings.urgent, __ATOMIC_ACQUIRE);
		clock_gettime(CLOCK_MONOTONIC, &time);
		check(urgent <= ns_of(time), "primary mode is %lld ns ahead", (long long)(urgent - ns_of(time)));
		__atomic_store_n(&readings.ordinary, ns_of(time), __ATOMIC_RELEASE);
	}
	return NULL;
}

/* No thread sees time go back, whichever mode it and others are in. */
void clocks_between_threads(void)
{
	int64_t ordinary, urgent;
	unsigned int i;

	mark(0);
	check(!pthread_create(&readings.thread, NULL, reads, NULL), "pthread_create");
	be_real_time();
	for (i = 0; i < 2 * READINGS; i++) {
		check(!sleep_for(CLOCK_MONOTONIC, random() % (1000 * MICROSECOND), NULL), "clock_nanosleep");
		ordinary = __atomic_load_n(&readings.ordinary, __ATOMIC_ACQUIRE);
		urgent = now(CLOCK_MONOTONIC);
		check(ordinary <= urgent, "primary mode is %lld ns behind", (long long)(ordinary - urgent));
		__atomic_store_n(&readings.urgent, urgent, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&readings.ends, true, __ATOMIC_RELEASE);
	pthread_join(readings.thread, NULL);
	check(readings.ordinary, "the other thread has not run");
	check_entries(1);
}
