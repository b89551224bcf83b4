// SPDX-License-Identifier: GPL-2.0-only
/* Sleeps and clocks. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>
#include <x86intrin.h>

#include "test.h"

#define SLEEPS 1000
#define READINGS 1000

static const clockid_t sleepable[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI };
static const clockid_t readable[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI, CLOCK_MONOTONIC_RAW };

/* No sleep ends early. */
void times(void)
{
	int64_t length, begin, late, latest = 0;
	struct pillion_dual_thread thread;
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
	/* The processor may have changed between two calls where there are several. */
	for (i = 0; i < 4; i++) {
		unsigned int numbers[2] = { ~0U, ~0U };

		check(!syscall(SYS_getcpu, i & 1 ? &numbers[0] : NULL, i & 2 ? &numbers[1] : NULL, NULL), "getcpu");
		check(i & 1 ? numbers[0] < sysconf(_SC_NPROCESSORS_CONF) : numbers[0] == ~0U, "processor");
		check(i & 2 ? !numbers[1] : numbers[1] == ~0U, "node %u", numbers[1]);
	}
	begin = now(CLOCK_REALTIME) / SECOND;
	length = syscall(SYS_time, NULL);
	check(length >= begin && length <= now(CLOCK_REALTIME) / SECOND, "time: %lld", (long long)length);
	check_entries(1);
	check(is_native || (look(gettid(), &thread) && thread.latency_max_ns && thread.latency_max_ns < SECOND),
	      "its longest latency is %llu ns", (unsigned long long)thread.latency_max_ns);
	/* The eight times that were over; a sleep for a few nanoseconds may be over as well. */
	check(is_native || (thread.overruns >= 2 * COUNT(sleepable) && thread.overruns < 2 * COUNT(sleepable) + SLEEPS / 20),
	      "%llu overruns", (unsigned long long)thread.overruns);
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

/* The time of a clock, and the tick at which it was that time, with the ticks of doubt. */
struct reading {
	int64_t ns;
	int64_t tick;
	int64_t doubt;
};

static struct reading read_primary(clockid_t clock)
{
	int64_t before = __rdtsc();
	int64_t ns = now(clock);
	int64_t after = __rdtsc();

	return (struct reading){ ns, (before + after) / 2, after - before };
}

/* The best of some readings, since interrupts disturb them. */
static struct reading read_linux(clockid_t clock)
{
	struct reading best = { .doubt = INT64_MAX };
	struct timespec time;
	int64_t before, after;
	int i;

	for (i = 0; i < 20; i++) {
		before = __rdtsc();
		clock_gettime(clock, &time);
		after = __rdtsc();
		if (after - before < best.doubt)
			best = (struct reading){ ns_of(time), (before + after) / 2, after - before };
	}
	return best;
}

/* What may lie between the two sides, beside a constant: the length of the way to primary mode. */
#define APART 100

/* Longest way there and back. */
#define WAY 5000

/* Changes of Linux's clocks, as NTP makes them: rates in 1/65,536 of a millionth, and a slew. */
static void change(unsigned int second)
{
	struct timex timex = { .modes = ADJ_FREQUENCY };
	struct timespec time;

	if (second % 10 == 5) {
		clock_gettime(CLOCK_REALTIME, &time);
		time.tv_sec += second % 20 == 5 ? 3600 : -3600;
		check(!clock_settime(CLOCK_REALTIME, &time), "clock_settime: %s", strerror(errno));
		return;
	}
	if (second % 10 == 7) {
		timex.modes = ADJ_OFFSET_SINGLESHOT;
		timex.offset = second % 20 == 7 ? 2000 : -2000;
	} else {
		timex.freq = ((long)(second % 3) - 1) * (500 << 16);
	}
	check(adjtimex(&timex) >= 0, "adjtimex: %s", strerror(errno));
}

/*
 * Clocks in primary mode stay within 100 ns of Linux's for a minute, whatever NTP does. Ticks are
 * taken for nanoseconds: between the two readings of a pair pass some microseconds only.
 */
int minute(void)
{
	int64_t least[COUNT(readable)], most[COUNT(readable)], apart, hz, begin, tick;
	struct reading primary, ordinary;
	unsigned int i, second, clock;

	tick = __rdtsc();
	begin = now(CLOCK_MONOTONIC_RAW);
	usleep(1000000);
	hz = (__rdtsc() - tick) * SECOND / (now(CLOCK_MONOTONIC_RAW) - begin);
	for (clock = 0; clock < COUNT(readable); clock++) {
		least[clock] = INT64_MAX;
		most[clock] = INT64_MIN;
	}
	enter();
	for (second = 0; second < 60; second++) {
		change(second);
		for (i = 0; i < 100; i++) {
			check(!sleep_for(CLOCK_MONOTONIC, 9 * MILLISECOND + random() % MILLISECOND, NULL), "clock_nanosleep");
			clock = i % COUNT(readable);
			primary = read_primary(readable[clock]);
			to_linux();
			ordinary = read_linux(readable[clock]);
			check(primary.doubt < WAY, "a reading takes %lld ticks", (long long)primary.doubt);
			apart = primary.ns - ordinary.ns + (ordinary.tick - primary.tick) * SECOND / hz;
			check(apart < primary.doubt && apart > -primary.doubt, "clock %d is %lld ns ahead", readable[clock],
			      (long long)apart);
			least[clock] = apart < least[clock] ? apart : least[clock];
			most[clock] = apart > most[clock] ? apart : most[clock];
		}
	}
	for (clock = 0; clock < COUNT(readable); clock++) {
		tell("clock %d: %lld to %lld ns ahead", readable[clock], (long long)least[clock], (long long)most[clock]);
		check(most[clock] - least[clock] <= APART, "clock %d varies by more than %d ns", readable[clock], APART);
	}
	check_entries(1);
	tell("a minute: good");
	return 0;
}
