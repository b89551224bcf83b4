// SPDX-License-Identifier: GPL-2.0-only
/* The clock readers of Linux's vDSO, which the C library calls, in primary mode. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <unistd.h>

#include "test.h"

#define ROUNDS 200
#define READINGS 50
#define PERIOD (100 * MICROSECOND)

static const clockid_t readable[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI, CLOCK_MONOTONIC_RAW };

static int64_t read_clock(clockid_t clock)
{
	struct timespec time;

	check(!clock_gettime(clock, &time), "clock_gettime(%d): %s", clock, strerror(errno));
	return ns_of(time);
}

static uint64_t calls(void)
{
	struct pillion_dual_thread thread;

	return !is_native && look(gettid(), &thread) ? thread.answered : 0;
}

/* The vDSO tells the time that a system call tells, and makes none. */
void vdso(void)
{
	int64_t before, between, after;
	unsigned int i, j, clock;
	struct timeval day;
	uint64_t count;

	check(getauxval(AT_SYSINFO_EHDR), "there is no vDSO");
	enter();
	for (i = 0; i < ROUNDS; i++) {
		clock = i % COUNT(readable);
		/* Linux advances its clocks meanwhile. */
		check(!sleep_for(CLOCK_MONOTONIC, random() % (5 * MILLISECOND), NULL), "clock_nanosleep");
		before = now(readable[clock]);
		between = read_clock(readable[clock]);
		after = now(readable[clock]);
		check(before <= between && between <= after, "clock %d: %lld is not between %lld and %lld", readable[clock],
		      (long long)between, (long long)before, (long long)after);
	}
	check_entries(1);
	to_primary();
	count = calls();
	to_primary();
	for (i = 0; i < ROUNDS; i++) {
		for (j = 0; j < READINGS; j++)
			read_clock(readable[j % COUNT(readable)]);
		check(!gettimeofday(&day, NULL), "gettimeofday");
	}
	check(is_primary() || is_native, "it went to Linux");
	count = calls() - count;
	check(count < ROUNDS, "it made %llu calls", (unsigned long long)count);
}

/* Time goes on in primary mode while Linux is idle, and makes no ticks. */
void check_time(void)
{
	struct timeval day;
	time_t seconds;
	int i;

	for (i = 0; i < 11; i++) {
		check(!sleep_for(CLOCK_MONOTONIC, 100 * MILLISECOND, NULL), "clock_nanosleep");
		check(!gettimeofday(&day, NULL) && is_primary(), "gettimeofday leads to Linux");
		seconds = time(NULL);
		check(seconds == day.tv_sec || (seconds == day.tv_sec + 1 && day.tv_usec > 900000),
		      "time is %lld at %lld.%06lld", (long long)seconds, (long long)day.tv_sec, (long long)day.tv_usec);
		check(is_primary(), "time leads to Linux");
	}
}

/*
 * Reads the time after each sleep, while Linux stops again and again in the middle of advancing its
 * clocks: the vDSO of Linux's own threads waits then.
 */
int while_odd(void)
{
	int64_t begin, next, late, latest = 0;
	unsigned int stalls = 0;

	enter();
	begin = now(CLOCK_MONOTONIC);
	for (next = begin + MILLISECOND; next < begin + 5 * SECOND; next += PERIOD) {
		check(!sleep_until(CLOCK_MONOTONIC, next), "clock_nanosleep");
		late = read_clock(CLOCK_MONOTONIC) - next;
		latest = late > latest ? late : latest;
		stalls += late > PERIOD;
	}
	check_entries(1);
	tell("at most %lld ns late, %u times by more than a period", (long long)latest, stalls);
	check(!stalls, "it waited for Linux");
	tell("while odd: good");
	return 0;
}
