// SPDX-License-Identifier: GPL-2.0-only
/*
 * What primary mode writes for a thread lands in the memory that the thread has. Its budget can end
 * after its page tables were looked at and before the store; Linux then runs and takes the page.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

#define PAGE 4096u
/* Pages that move away under the thread's stores. */
#define MOVES 400

/* Where it stores; each kind has words of its own, all in one page. */
struct target {
	struct timespec time;
	uint32_t processor;
	uint32_t lock;
};

static struct target *target;
static volatile bool is_done;
/* Who stores there. */
static volatile pid_t number;

/* Stores until its budget ends, over and over. The short sleeps are for the watchdog. */
static void *stores(void *context)
{
	unsigned int i;

	(void)context;
	number = gettid();
	while (!is_done) {
		to_primary();
		for (i = 0; i < 100; i++) {
			CALL2(SYS_clock_gettime, CLOCK_MONOTONIC, &target->time);
			CALL2(SYS_getcpu, &target->processor, 0);
			CALL2(SYS_futex, &target->lock, FUTEX_LOCK_PI_PRIVATE);
			CALL2(SYS_futex, &target->lock, FUTEX_UNLOCK_PI_PRIVATE);
		}
	}
	return NULL;
}

/* Puts another page where the thread stores, and returns the old one's new address. */
static struct target *move(void *spare)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE;
	void *moved = mremap(target, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, spare);
	struct target *new = mmap(target, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);

	check(moved == spare && new == target, "moving the page");
	new->processor = 1;
	return moved;
}

void memory_that_moves(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	struct pillion_dual_thread seen = { .entries = 0 };
	struct target *spare, before;
	pthread_t thread;
	unsigned int i;

	mark(0);
	check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall");
	target = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
	spare = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
	check(target != MAP_FAILED && spare != MAP_FAILED, "mmap");
	thread = begin_thread(PRIORITY, stores, NULL);
	go_to_last_processor();
	usleep(10000);
	for (i = 0; i < MOVES; i++) {
		struct target *old = move(spare);

		old->processor = 1;
		before = *old;
		/* The thread gets its budget at least twice. */
		usleep(2000);
		check(!memcmp(&before, old, sizeof(before)),
		      "move %u: the page that was taken away has %lld.%09ld, %u, %x instead of %lld.%09ld, 1, %x", i,
		      (long long)old->time.tv_sec, old->time.tv_nsec, old->processor, old->lock,
		      (long long)before.time.tv_sec, before.time.tv_nsec, before.lock);
	}
	is_done = true;
	pthread_join(thread, NULL);
	check(is_native || (look(number, &seen) && seen.exhausted >= MOVES / 2 && seen.answered > MOVES),
	      "its budget ended %llu times in primary mode", (unsigned long long)seen.exhausted);
}
