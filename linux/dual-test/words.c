// SPDX-License-Identifier: GPL-2.0-only
/* Mutexes with a word in the process's memory, and what a faulty process can do to them. */
#define _GNU_SOURCE
#include <errno.h>
#include <pillion_objects.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

#define PAGE 4096
#define CLAIMED PILLION_DUAL_WORD_CLAIMED
#define NOBODY 0x3ffffff0u

static volatile uint32_t *word;
static long mutex;

static long create(volatile void *at, uint64_t flags)
{
	return pillion_call(device, PILLION_DUAL_SERVICE_CREATE, PILLION_DUAL_OBJECT_MUTEX, 0, flags, (uintptr_t)at);
}

static void make(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	check(page != MAP_FAILED, "mmap");
	word = (uint32_t *)page + 1;
	*word = 0;
	mutex = create(word, PILLION_DUAL_OBJECT_INHERIT);
	check(mutex > 0, "a mutex with a word: %ld", mutex);
	/* Where the task expects it. */
	*(uint32_t *)page = mutex;
}

static long lock_until(int64_t ns)
{
	return pillion_mutex_lock(device, mutex, CLOCK_MONOTONIC, now(CLOCK_MONOTONIC) + ns);
}

static volatile long result;

static void *waits(void *nothing)
{
	to_primary();
	result = pillion_mutex_lock(device, mutex, PILLION_FOREVER, 0);
	return nothing;
}

/* A thread that waits finds the owner by the word, in primary mode or in Linux. */
static void finds_owner(bool is_in_linux)
{
	uint32_t own = syscall(SYS_gettid);
	pthread_t waiter;

	make();
	result = 1;
	check(__sync_bool_compare_and_swap(word, 0, own), "free");
	waiter = begin_thread(PRIORITY + 1, waits, NULL);
	sleep_for(CLOCK_MONOTONIC, 5 * MILLISECOND, NULL);
	check(*word == (CLAIMED | own) && result == 1, "claimed: %#x", *word);
	if (is_in_linux)
		to_linux();
	check(!pillion_mutex_unlock(device, mutex), "unlock");
	pthread_join(waiter, NULL);
	check(!result && *word && !(*word & CLAIMED) && *word != own, "handed over: %ld, %#x", result, *word);
	check(pillion_mutex_lock(device, mutex, PILLION_TRY, 0) == -EBUSY, "owned by one that has ended");
}

void words(void)
{
	uint32_t own = syscall(SYS_gettid);

	if (is_native)
		return;
	enter();
	make();
	check(!lock_until(MILLISECOND) && *word == own, "a call locks it: %#x", *word);
	check(!pillion_mutex_unlock(device, mutex) && !*word, "and unlocks it: %#x", *word);
	check(pillion_mutex_unlock(device, mutex) == -EPERM && !*word, "nobody's: %#x", *word);
	finds_owner(false);
	finds_owner(true);
}

static volatile bool is_over;

/* Linux runs it while the others wait. */
static void *scribbles(void *nothing)
{
	unsigned int seed = 1, i;

	for (i = 0; !is_over; i++) {
		*word = rand_r(&seed) % 3 ? (uint32_t)rand_r(&seed) : (uint32_t)(i % 2 ? CLAIMED : 0);
		if (i % 64 == 0)
			sleep_for(CLOCK_MONOTONIC, MILLISECOND / 10, NULL);
	}
	return nothing;
}

static void *uses(void *number)
{
	long seen, i;

	to_primary();
	for (i = 0; i < 300; i++) {
		seen = lock_until((i + (long)number) % 7 * MILLISECOND / 20);
		check(!seen || seen == -ETIMEDOUT || seen == -EAGAIN || seen == -EFAULT, "a lock: %ld", seen);
		seen = pillion_mutex_unlock(device, mutex);
		check(!seen || seen == -EPERM || seen == -EAGAIN || seen == -EFAULT, "an unlock: %ld", seen);
	}
	return NULL;
}

/* A word that anybody writes: threads wait for nobody, and others are not disturbed. */
static void scribbled(void)
{
	pthread_t threads[3], scribbler;
	long i;

	make();
	is_over = false;
	scribbler = begin_thread(0, scribbles, NULL);
	for (i = 0; i < 3; i++)
		threads[i] = begin_thread(PRIORITY - 1 + i, uses, (void *)i);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	is_over = true;
	pthread_join(scribbler, NULL);
}

void hostile_words(void)
{
	static const uint64_t strange[] = { 2, 0xffff800000000000, 0x7ffffffffffc, (uint64_t)-4 };
	pthread_t waiter;
	unsigned int i;

	if (is_native)
		return;
	enter();
	for (i = 0; i < COUNT(strange); i++)
		check(create((void *)strange[i], 0) == -EINVAL, "a word at %#llx", (unsigned long long)strange[i]);
	make();
	check(create(word, PILLION_DUAL_OBJECT_RECURSIVE) == -EINVAL, "a recursive one");
	check(pillion_call(device, PILLION_DUAL_SERVICE_CREATE, PILLION_DUAL_OBJECT_MUTEX, 50, 0, (uintptr_t)word) == -EINVAL,
	      "one with a ceiling");
	check(pillion_call(device, PILLION_DUAL_SERVICE_CREATE, PILLION_DUAL_OBJECT_FLAGS, 0, 0, (uintptr_t)word) == -EINVAL,
	      "flags");
	*word = NOBODY;
	check(lock_until(MILLISECOND) == -ETIMEDOUT, "nobody owns it");
	check(pillion_mutex_unlock(device, mutex) == -EPERM, "nobody's");
	/* Memory that cannot be written, and memory that is not there. */
	for (i = 0; i < 2; i++) {
		make();
		check(i ? !munmap((void *)(word - 1), PAGE) : !mprotect((void *)(word - 1), PAGE, PROT_READ), "its memory");
		check(lock_until(MILLISECOND) == -EFAULT && pillion_mutex_unlock(device, mutex) == -EFAULT, "without memory");
		check(!pillion_destroy(device, mutex), "destroyed");
	}
	/* The memory goes while a thread waits, and comes back empty: the task knows the owner. */
	make();
	result = 1;
	check(!lock_until(MILLISECOND), "lock");
	waiter = begin_thread(PRIORITY + 1, waits, NULL);
	sleep_for(CLOCK_MONOTONIC, 5 * MILLISECOND, NULL);
	check(!munmap((void *)(word - 1), PAGE) && pillion_mutex_unlock(device, mutex) == -EFAULT, "without memory");
	check(mmap((void *)(word - 1), PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_FIXED,
		   -1, 0) == (void *)(word - 1) && !pillion_mutex_unlock(device, mutex), "unlock");
	pthread_join(waiter, NULL);
	check(!result && pillion_mutex_lock(device, mutex, PILLION_TRY, 0) == -EBUSY, "the waiter has it: %ld", result);
	scribbled();
	make();
	check(!lock_until(MILLISECOND) && !pillion_mutex_unlock(device, mutex) && !*word, "another one");
}
