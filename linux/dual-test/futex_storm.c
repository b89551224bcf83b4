// SPDX-License-Identifier: GPL-2.0-only
/* Lost wake-ups: tokens go round among threads of all kinds, in processes that are killed. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "futex.h"
#include "test.h"

/* Threads by priority; 0: ordinary. The token's holder passes it on to any other. */
static const int priorities[] = { PRIORITY, 0, PRIORITY + 10, 0, PRIORITY - 10, 0 };

#define THREADS COUNT(priorities)
#define HOPS 20000u

static uint32_t tokens[THREADS];
static uint32_t hops;
/* What each thread does, for whoever looks at one that hangs. */
static volatile unsigned int taken[THREADS];

static void *passes_on(void *context)
{
	unsigned int me = (uintptr_t)context, seed = me + 1;

	for (;;) {
		take_one(&tokens[me]);
		taken[me]++;
		if (__atomic_add_fetch(&hops, 1, __ATOMIC_RELAXED) >= HOPS)
			break;
		put(&tokens[rand_r(&seed) % THREADS]);
	}
	/* The end goes round once. */
	put(&tokens[(me + 1) % THREADS]);
	return NULL;
}

/* With one or two tokens, each wake-up counts: if one is lost, all threads wait. */
static void go_round(unsigned int count)
{
	pthread_t threads[THREADS];
	uint32_t before = 0;
	unsigned int i;

	hops = 0;
	for (i = 0; i < THREADS; i++) {
		tokens[i] = 0;
		threads[i] = begin_thread(priorities[i], passes_on, (void *)(uintptr_t)i);
	}
	for (i = 0; i < count; i++)
		put(&tokens[i]);
	while (__atomic_load_n(&hops, __ATOMIC_RELAXED) < HOPS) {
		sleep(2);
		if (hops == before) {
			for (i = 0; i < THREADS; i++)
				tell("thread %u, priority %d: %u tokens, %u were taken", i, priorities[i], tokens[i],
				     taken[i]);
			check(false, "a wake-up was lost after %u hops", hops);
		}
		before = hops;
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

void futex_storm(void)
{
	mark(0);
	check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall");
	go_round(1);
	go_round(2);
	go_round(5);
}

static void goes_round(void *nothing)
{
	unsigned int i;

	(void)nothing;
	mark(0);
	for (i = 0; i < THREADS; i++)
		begin_thread(priorities[i], passes_on, (void *)(uintptr_t)i);
	for (;;) {
		put(&tokens[0]);
		__atomic_store_n(&hops, 0, __ATOMIC_RELAXED);
		usleep(100);
	}
}

/* Processes die at any point of it; the next find the slots and their memories' places free. */
void futex_killed(void)
{
	unsigned int seed = 1;
	int i, status;

	for (i = 0; i < 60; i++) {
		pid_t child = spawn(goes_round, NULL);

		usleep(20000 + rand_r(&seed) % 20000);
		kill(child, SIGKILL);
		status = status_of(child);
		check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "process %d: status %#x", i, status);
	}
}
