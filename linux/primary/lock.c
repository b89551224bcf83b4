// SPDX-License-Identifier: GPL-2.0-only
#include "lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call.h"
#include "moment.h"
#include "thread.h"

/* Threads that are woken at once when the lock is free; others are woken under it. */
#define LATER 16

/* The owner's number, as futexes with inheritance have it. */
static uint32_t owner;

/* A thread that sleeps: its semaphore in primary mode; without primary mode, the word in memory. */
struct sleeper {
	uint32_t semaphore;
	uint32_t *word;
};

static struct sleeper later[LATER];
static unsigned int later_count;

/* Errands that are run when the lock is free; others are run under it. */
#define ERRANDS 8

static struct primary_errand errands[ERRANDS];
static unsigned int errand_count;

static __thread uint32_t tid;
static __thread bool is_locking;

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *end)
{
	/* The last argument is for waits alone: any bit wakes them. */
	if (syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, end, NULL, FUTEX_BITSET_MATCH_ANY))
		return -errno;
	return 0;
}

uint32_t primary_tid(void)
{
	if (!tid)
		tid = syscall(SYS_gettid);
	return tid;
}

bool primary_is_locking(void)
{
	return is_locking;
}

void primary_lock(void)
{
	uint32_t none = 0;

	is_locking = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__atomic_compare_exchange_n(&owner, &none, primary_tid(), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (futex(&owner, FUTEX_LOCK_PI, 0, NULL))
		;
}

static void wake(const struct sleeper *sleeper)
{
	if (sleeper->semaphore)
		PRIMARY_CALL(SEMAPHORE_POST, sleeper->semaphore, 0, 0, 0);
	else
		syscall(SYS_futex, sleeper->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void primary_unlock(void)
{
	unsigned int count = later_count, runs = errand_count, i;
	struct sleeper sleepers[LATER];
	struct primary_errand own_errands[ERRANDS];
	uint32_t own = tid;

	for (i = 0; i < count; i++)
		sleepers[i] = later[i];
	later_count = 0;
	for (i = 0; i < runs; i++)
		own_errands[i] = errands[i];
	errand_count = 0;
	if (!__atomic_compare_exchange_n(&owner, &own, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		futex(&owner, FUTEX_UNLOCK_PI, 0, NULL);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	is_locking = false;
	/* They may have woken by themselves, and be gone: then this wakes nobody. */
	for (i = 0; i < count; i++)
		wake(&sleepers[i]);
	for (i = 0; i < runs; i++)
		own_errands[i].run(&own_errands[i]);
	primary_stand_still();
}

void primary_afterwards(const struct primary_errand *errand)
{
	if (is_locking && errand_count < ERRANDS)
		errands[errand_count++] = *errand;
	else
		errand->run(errand);
}

static void free_memory(const struct primary_errand *errand)
{
	free(errand->object);
}

void primary_free(void *memory)
{
	primary_afterwards(&(struct primary_errand){ .run = free_memory, .object = memory });
}

static void close_file(const struct primary_errand *errand)
{
	syscall(SYS_close, errand->number);
}

void primary_close_file(int number)
{
	primary_afterwards(&(struct primary_errand){ .run = close_file, .number = number });
}

void primary_rouse(const struct primary_thread *thread, uint32_t *woken)
{
	struct sleeper sleeper = { thread->semaphore, woken };

	if (later_count < LATER)
		later[later_count++] = sleeper;
	else
		wake(&sleeper);
}

int primary_sleep(const struct primary_thread *self, uint32_t *woken, const struct primary_end *end)
{
	bool is_endless = end->clock == PRIMARY_NEVER, is_of_futexes;
	clockid_t clock = end->clock;
	int64_t ns = end->ns;
	struct timespec time;

	if (self->semaphore)
		return PRIMARY_CALL(SEMAPHORE_WAIT, self->semaphore,
				    is_endless ? PILLION_DUAL_SERVICE_FOREVER : (uint64_t)clock, ns, 0);
	/* Futexes know two clocks. */
	is_of_futexes = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
	if (!is_endless && !is_of_futexes)
		ns += primary_now(CLOCK_MONOTONIC) - primary_now(clock);
	time = primary_timespec(ns < 0 ? 0 : ns);
	return futex(woken, FUTEX_WAIT_BITSET | (clock == CLOCK_REALTIME ? FUTEX_CLOCK_REALTIME : 0), 0,
		     is_endless ? NULL : &time);
}

/* Only the thread that forks is in the child, and it does not own the lock. */
static void child(void)
{
	tid = 0;
	owner = 0;
	later_count = 0;
	errand_count = 0;
	is_locking = false;
}

__attribute__((constructor(101))) static void begin(void)
{
	pthread_atfork(primary_lock, primary_unlock, child);
}
