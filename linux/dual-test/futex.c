// SPDX-License-Identifier: GPL-2.0-only
/* Private futexes, by system calls: results, order, and threads in primary mode and in Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "futex.h"
#include "test.h"

static void stays(const char *what)
{
	check(is_native || is_primary(), "%s led to Linux", what);
}

/* What each call returns, and that no right one leads to Linux. */
void futex_results(void)
{
	static uint32_t words[3];
	struct timespec passed = { .tv_nsec = 1 }, wrong = { .tv_nsec = 1000000000 }, negative = { .tv_sec = -1 };
	struct timespec short_time = { .tv_nsec = 2 * MILLISECOND }, until;
	const struct {
		uint32_t *word;
		long wait;
		long wake;
	} bad[] = {
		{ (uint32_t *)((char *)words + 1), -EINVAL, -EINVAL },
		{ (uint32_t *)8, -EFAULT, 0 },
		{ (uint32_t *)(1ul << 63), -EFAULT, -EFAULT },
	};
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };
	int64_t begin;
	unsigned int i;

	enter();
	to_primary();
	check(futex(words, FUTEX_WAIT, 1, NULL, 0) == -EAGAIN, "a value that differs");
	check(futex(words, FUTEX_WAKE, 1, NULL, 0) == 0, "nobody is woken");
	check(futex(words, FUTEX_WAKE_BITSET, INT_MAX, NULL, 1) == 0, "nobody is woken for a bit");
	begin = now(CLOCK_MONOTONIC);
	check(futex(words, FUTEX_WAIT, 0, &short_time, 0) == -ETIMEDOUT, "2 ms");
	check(now(CLOCK_MONOTONIC) - begin >= 2 * MILLISECOND, "they were too short");
	for (i = 0; i < COUNT(clocks); i++) {
		int with = FUTEX_WAIT_BITSET | (clocks[i] == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0);

		begin = now(clocks[i]);
		until = timespec_of(begin + 2 * MILLISECOND);
		check(futex(words, with, 0, &until, 1) == -ETIMEDOUT, "until in 2 ms, clock %d", clocks[i]);
		check(now(clocks[i]) - begin >= 2 * MILLISECOND, "it was too short");
		check(futex(words, with, 0, &passed, 1) == -ETIMEDOUT, "until a time that has passed");
		check(futex(words, with, 1, &passed, 1) == -EAGAIN, "a value that differs, in a time that has passed");
	}
	stays("a wait");
	check(futex(words, FUTEX_WAIT, 0, &wrong, 0) == -EINVAL, "a wrong time");
	check(futex(words, FUTEX_WAIT_BITSET, 0, &negative, 1) == -EINVAL, "a negative time");
	check(futex(words, FUTEX_WAIT_BITSET, 0, NULL, 0) == -EINVAL, "no bits to wait for");
	check(futex(words, FUTEX_WAKE_BITSET, 1, NULL, 0) == -EINVAL, "no bits to wake");
	check(futex(words, FUTEX_WAIT | FUTEX_CLOCK_REALTIME, 0, &passed, 0) == -ENOSYS, "a clock that does not count");
	check(futex(words, FUTEX_WAIT, 0, (void *)8, 0) == -EFAULT, "a time that is nowhere");
	check(futex(words, 99, 0, NULL, 0) == -ENOSYS, "an unknown call");
	for (i = 0; i < COUNT(bad); i++) {
		to_primary();
		check(futex(bad[i].word, FUTEX_WAIT, 0, NULL, 0) == bad[i].wait, "a wait at %p", (void *)bad[i].word);
		to_primary();
		check(futex(bad[i].word, FUTEX_WAKE, 1, NULL, 0) == bad[i].wake, "a wake-up at %p", (void *)bad[i].word);
	}
}

struct sleeper_of {
	uint32_t bits;
	long result;
	unsigned int rank;
};

static uint32_t gate;
static unsigned int risen;

static void *sleeps(void *context)
{
	struct sleeper_of *this = context;

	this->result = futex(&gate, FUTEX_WAIT_BITSET, 0, NULL, this->bits);
	this->rank = __atomic_add_fetch(&risen, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* The most urgent is woken first; of equals, who has waited longest; and only for its bits. */
void futex_order(void)
{
	static const int priorities[] = { 10, 20, 20, 30 };
	static const unsigned int ranks[] = { 4, 2, 3, 1 };
	struct sleeper_of sleepers[COUNT(priorities)] = { { .bits = 0 } };
	pthread_t threads[COUNT(priorities)];
	unsigned int i;

	enter();
	for (i = 0; i < COUNT(priorities); i++) {
		sleepers[i].bits = 1 << i | 1 << 31;
		threads[i] = begin_thread(priorities[i], sleeps, &sleepers[i]);
		sleep_for(CLOCK_MONOTONIC, 20 * MILLISECOND, NULL);
	}
	check(!futex(&gate, FUTEX_WAKE_BITSET, INT_MAX, NULL, 1 << 30), "nobody waits for that bit");
	for (i = 0; i < COUNT(priorities); i++) {
		check(futex(&gate, FUTEX_WAKE_BITSET, 1, NULL, 1 << 31) == 1, "wake-up %u", i);
		stays("a wake-up");
		sleep_for(CLOCK_MONOTONIC, 20 * MILLISECOND, NULL);
		check(risen == i + 1, "%u threads are up after %u wake-ups", risen, i + 1);
	}
	for (i = 0; i < COUNT(priorities); i++) {
		pthread_join(threads[i], NULL);
		check(!sleepers[i].result && sleepers[i].rank == ranks[i], "thread %u: result %ld, rank %u", i,
		      sleepers[i].result, sleepers[i].rank);
	}
	/* All at once, but for one. */
	risen = 0;
	for (i = 0; i < COUNT(priorities); i++)
		threads[i] = begin_thread(priorities[i], sleeps, &sleepers[i]);
	sleep_for(CLOCK_MONOTONIC, 20 * MILLISECOND, NULL);
	check(futex(&gate, FUTEX_WAKE_BITSET, INT_MAX, NULL, 0xd) == 3, "three are woken for their bits");
	check(futex(&gate, FUTEX_WAKE, 5, NULL, 0) == 1, "and the last one");
	for (i = 0; i < COUNT(priorities); i++)
		pthread_join(threads[i], NULL);
}

/* Whose turn it is. */
static uint32_t turn;

static void wait_turn(uint32_t mine)
{
	uint32_t seen;

	while ((seen = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != mine) {
		long result = futex(&turn, FUTEX_WAIT, seen, NULL, 0);

		check(!result || result == -EAGAIN, "a wait: %ld", result);
	}
}

static void give_turn(uint32_t to)
{
	__atomic_store_n(&turn, to, __ATOMIC_RELEASE);
	check(futex(&turn, FUTEX_WAKE, 1, NULL, 0) >= 0, "a wake-up");
}

#define TURNS 500

static void *takes_turns(void *nothing)
{
	unsigned int i;

	for (i = 0; i < TURNS; i++) {
		wait_turn(1);
		give_turn(0);
	}
	return nothing;
}

/* Threads of each kind wake each other. */
void futex_turns(void)
{
	static const int priorities[] = { PRIORITY + 1, PRIORITY - 1, 0 };
	unsigned int i, j;

	enter();
	for (i = 0; i < COUNT(priorities); i++) {
		pthread_t other = begin_thread(priorities[i], takes_turns, NULL);

		to_primary();
		for (j = 0; j < TURNS; j++) {
			give_turn(1);
			wait_turn(0);
			stays("a turn");
		}
		pthread_join(other, NULL);
	}
}

struct early {
	int operation;
	/* The length of its wait; 0: no end. */
	int64_t ns;
	uint32_t word;
	volatile pid_t number;
	long result;
};

static void *waits_early(void *context)
{
	struct early *this = context;
	bool is_point = this->operation == FUTEX_WAIT_BITSET;
	struct timespec time = timespec_of(this->ns + (is_point ? now(CLOCK_MONOTONIC) : 0));

	this->number = gettid();
	this->result = futex(&this->word, this->operation, 0, this->ns ? &time : NULL, ~0u);
	return NULL;
}

/* Threads that waited before the process was marked are woken from primary mode. */
void futex_early(void)
{
	struct early early[] = {
		{ .operation = FUTEX_WAIT },
		{ .operation = FUTEX_WAIT, .ns = 60 * SECOND },
		{ .operation = FUTEX_WAIT_BITSET, .ns = 60 * SECOND },
	};
	pthread_t threads[COUNT(early)];
	unsigned int i;

	for (i = 0; i < COUNT(early); i++) {
		threads[i] = begin_thread(0, waits_early, &early[i]);
		while (!early[i].number)
			usleep(1000);
	}
	usleep(20000);
	enter();
	for (i = 0; i < COUNT(early); i++) {
		to_primary();
		__atomic_store_n(&early[i].word, 1, __ATOMIC_RELEASE);
		futex(&early[i].word, FUTEX_WAKE, 1, NULL, 0);
		stays("a wake-up");
		pthread_join(threads[i], NULL);
		check(!early[i].result || early[i].result == -EAGAIN, "thread %u: %ld", i, early[i].result);
	}
}
