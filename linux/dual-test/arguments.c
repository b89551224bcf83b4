// SPDX-License-Identifier: GPL-2.0-only
/* System calls that primary mode answers, with arguments that are wrong or at the edge. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "test.h"

#define PAGE 4096
#define RESULTS 16384

/* The results in an ordinary process, and in a marked one. */
static long *results[2];

static const uint64_t clocks_[] = {
	CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW,
	CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME, CLOCK_REALTIME_ALARM, CLOCK_BOOTTIME_ALARM, 10,
	CLOCK_TAI, 12, 15, 16, 17, 31, 32, 63, 64, INT_MAX, INT_MIN, -1, -2, -3, -6,
	/* The upper half does not count. */
	0x100000001, 0xffffffff00000000, 0x8000000000000001, 0xffffffff,
};
static const uint64_t flags_[] = { 0, TIMER_ABSTIME, 2, 3, -1, 0x100000000, 0x100000001 };
static const struct timespec times_[] = {
	{ 0, 0 }, { 0, 1 }, { 0, 20000 }, { 0, -1 }, { 0, 1000000000 }, { 0, LONG_MAX }, { 0, LONG_MIN }, { -1, 0 },
	{ LONG_MIN, 0 }, { -1, 999999999 }, { LONG_MAX, 0 }, { LONG_MAX, 999999999 }, { LONG_MAX / SECOND, 999999999 },
	{ LONG_MAX / SECOND + 1, 0 },
};

/* Places where a time may be, or may be stored. */
static struct timespec *places[16];
static unsigned int place_count;

static void *map(int protection, int flags, int file)
{
	void *at = mmap(NULL, 3 * PAGE, protection, MAP_PRIVATE | flags, file, 0);

	check(at != MAP_FAILED, "mmap: %s", strerror(errno));
	return at;
}

static void add_place(void *at)
{
	places[place_count++] = at;
}

/* All kinds of memory. Made anew by each process, as an access changes some. */
static void make_places(void)
{
	char *mapped = map(PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_POPULATE, -1);
	char *fresh = map(PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1), *zero = map(PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1);
	char *edge = map(PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_POPULATE, -1);
	char *constant = map(PROT_READ, MAP_ANONYMOUS | MAP_POPULATE, -1), *none = map(PROT_NONE, MAP_ANONYMOUS, -1);
	int file = memfd_create("empty", 0);

	place_count = 0;
	munmap(edge + PAGE, 2 * PAGE);
	/* Only read: it is the page of zeros that all share. */
	(void)*(volatile char *)zero;
	add_place(mapped);
	add_place(mapped + PAGE - 8);
	add_place(mapped + PAGE - 3);
	add_place(fresh + PAGE - 8);
	add_place(zero);
	add_place(edge + PAGE - 16);
	add_place(edge + PAGE - 8);
	add_place(edge + PAGE - 15);
	add_place(constant);
	add_place(none);
	add_place(map(PROT_READ | PROT_WRITE, 0, file));
	add_place(NULL);
	add_place((void *)0x7ffffffffff8);
	add_place((void *)0x8000000000000000);
	add_place((void *)0xffffffff81000000);
	add_place((void *)-8l);
	close(file);
}

static void nothing(int sig)
{
	(void)sig;
}

/* A system call from primary mode, which a signal cuts short if it waits. */
static void try(bool is_marked, unsigned int *next, uint64_t number, uint64_t a, uint64_t b, const void *c, const void *d)
{
	static const struct itimerval soon = { .it_value = { 0, 5000 } }, never;
	long result;

	setitimer(ITIMER_REAL, &soon, NULL);
	to_primary();
	result = CALL4(number, a, b, c, d);
	setitimer(ITIMER_REAL, &never, NULL);
	check(*next < RESULTS, "there are too many");
	results[is_marked][(*next)++] = result;
}

static void try_times(bool is_marked, unsigned int *next)
{
	unsigned int clock, flag, time;

	for (clock = 0; clock < COUNT(clocks_); clock++)
		for (flag = 0; flag < COUNT(flags_); flag++)
			for (time = 0; time < COUNT(times_); time++)
				try(is_marked, next, SYS_clock_nanosleep, clocks_[clock], flags_[flag], &times_[time], NULL);
}

static void try_places(bool is_marked, unsigned int *next)
{
	static const uint64_t clocks_of_all[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_MONOTONIC_COARSE, 99 };
	struct timespec short_time = { 0, 1000 }, bad_time = { 0, -1 }, long_time = { 100, 0 };
	unsigned int i, j;

	for (i = 0; i < COUNT(clocks_of_all); i++) {
		for (j = 0; j < place_count; j++) {
			make_places();
			try(is_marked, next, SYS_clock_gettime, clocks_of_all[i], (uintptr_t)places[j], NULL, NULL);
			try(is_marked, next, SYS_clock_nanosleep, clocks_of_all[i], TIMER_ABSTIME, places[j], NULL);
			try(is_marked, next, SYS_clock_nanosleep, clocks_of_all[i], 0, &short_time, places[j]);
			try(is_marked, next, SYS_clock_nanosleep, clocks_of_all[i], 0, &bad_time, places[j]);
			try(is_marked, next, SYS_clock_nanosleep, clocks_of_all[i], 0, &long_time, places[j]);
			try(is_marked, next, SYS_clock_getres, clocks_of_all[i], (uintptr_t)places[j], NULL, NULL);
			try(is_marked, next, SYS_gettimeofday, (uintptr_t)places[j], 0, NULL, NULL);
			try(is_marked, next, SYS_nanosleep, (uintptr_t)&long_time, (uintptr_t)places[j], NULL, NULL);
			try(is_marked, next, SYS_getcpu, (uintptr_t)places[j], 0, NULL, NULL);
		}
	}
	for (i = 0; i < COUNT(clocks_); i++)
		try(is_marked, next, SYS_clock_gettime, clocks_[i], (uintptr_t)&short_time, NULL, NULL);
	/* The upper half of the number does not count either. */
	try(is_marked, next, SYS_clock_gettime | 1ull << 32, CLOCK_MONOTONIC, (uintptr_t)&short_time, NULL, NULL);
	try(is_marked, next, SYS_clock_gettime | 1ull << 63, CLOCK_MONOTONIC, (uintptr_t)&short_time, NULL, NULL);
	try(is_marked, next, SYS_clock_gettime | 1ull << 30, CLOCK_MONOTONIC, (uintptr_t)&short_time, NULL, NULL);
}

static void try_all(void *is_marked)
{
	struct sigaction action = { .sa_handler = nothing };
	bool marked = *(bool *)is_marked;
	unsigned int next = 0;

	check(!sigaction(SIGALRM, &action, NULL), "sigaction");
	if (marked)
		mark(0);
	be_real_time();
	/* So that memory is not there before it is used. */
	munlockall();
	try_times(marked, &next);
	make_places();
	try_places(marked, &next);
	results[marked][RESULTS] = next;
}

void hostile_arguments(void)
{
	unsigned int i;
	bool marked;
	int status;

	for (i = 0; i < 2; i++) {
		marked = i;
		results[i] = shared((RESULTS + 1) * sizeof(long));
		status = status_of(spawn(try_all, &marked));
		check(!status, "a process's status is %#x", status);
	}
	check(results[0][RESULTS] == results[1][RESULTS], "not as many results");
	for (i = 0; i < results[0][RESULTS]; i++)
		check(results[0][i] == results[1][i], "result %u is %ld instead of %ld", i, results[1][i], results[0][i]);
	tell("%ld calls", results[0][RESULTS]);
}
