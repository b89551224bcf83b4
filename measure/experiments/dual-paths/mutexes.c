// SPDX-License-Identifier: MIT OR Apache-2.0
/* The C library's mutexes: free ones, and those for which a more urgent thread waits. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kit.h"

/*
 * In each round the owner locks at its begin, the waiter asks after one part of it, and the owner
 * unlocks after two.
 */
#define PART 100000
#define ROUND (3 * PART)

static pthread_mutex_t mutex;
static struct readings handed;
static bool is_marked;
static int device;
static struct timespec first;
/* When the owner began to unlock. */
static volatile unsigned long long unlocked;

static void init_mutex(int protocol)
{
	pthread_mutexattr_t attributes;

	if (pthread_mutexattr_init(&attributes) || pthread_mutexattr_setprotocol(&attributes, protocol) ||
	    pthread_mutex_init(&mutex, &attributes))
		die("mutex");
}

/* A mutex that is free: locked and unlocked. */
static void measure_free(const char *name)
{
	struct readings readings = { 0 };
	unsigned int i;

	for (i = 0; i < rounds + WARM_UP; i++) {
		unsigned long long begin;

		rest();
		begin = ticks();
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		if (i >= WARM_UP)
			add(&readings, ticks() - begin);
	}
	print(name, &readings);
}

static void measure_free_primary(const char *name)
{
	device = mark();
	measure_free(name);
	check_entries(device, 1, 2);
}

/* Sleeps until that many nanoseconds after the first round's begin. */
static void sleep_until(unsigned long long nanoseconds)
{
	unsigned long long whole = first.tv_nsec + nanoseconds;
	struct timespec time = { first.tv_sec + whole / 1000000000, whole % 1000000000 };

	call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&time, 0);
}

/* A thread enters primary mode once, and stays; that of a new thread can be cut short at first. */
static void check_thread(void)
{
	if (is_marked)
		check_entries(device, 1, 2);
}

static void *waits(void *context)
{
	unsigned int i;

	for (i = 0; i < rounds + WARM_UP; i++) {
		unsigned long long asked, end;

		sleep_until(i * ROUND + PART);
		asked = ticks();
		pthread_mutex_lock(&mutex);
		end = ticks();
		if (unlocked < asked)
			printf("invalid nobody waited for a mutex\n");
		if (i >= WARM_UP)
			add(&handed, end - unlocked);
		pthread_mutex_unlock(&mutex);
	}
	check_thread();
	return context;
}

/* From the call that unlocks, until the waiter has the mutex. */
static void measure_hand_over(const char *name)
{
	pthread_t waiter;
	unsigned int i;

	clock_gettime(CLOCK_MONOTONIC, &first);
	/* The waiter begins by then. */
	first.tv_sec++;
	waiter = begin_thread(URGENT + 1, waits, NULL);
	for (i = 0; i < rounds + WARM_UP; i++) {
		sleep_until(i * ROUND);
		pthread_mutex_lock(&mutex);
		sleep_until(i * ROUND + 2 * PART);
		unlocked = ticks();
		pthread_mutex_unlock(&mutex);
	}
	check_thread();
	pthread_join(waiter, NULL);
	print(name, &handed);
}

static void measure_hand_over_primary(const char *name)
{
	is_marked = true;
	device = mark();
	measure_hand_over(name);
}

void measure_mutexes(void)
{
	unsigned long long in_linux, in_primary;

	init_mutex(PTHREAD_PRIO_NONE);
	in_linux = in_process(measure_free, "mutex_linux", URGENT);
	in_primary = in_process(measure_free_primary, "mutex", URGENT);
	printf("figure mutex_more %lld ns\n", (long long)(in_primary - in_linux));
	in_process(measure_hand_over, "hand_over_linux", URGENT);
	in_process(measure_hand_over_primary, "hand_over", URGENT);
	init_mutex(PTHREAD_PRIO_INHERIT);
	in_linux = in_process(measure_free, "mutex_pi_linux", URGENT);
	in_primary = in_process(measure_free_primary, "mutex_pi", URGENT);
	printf("figure mutex_pi_more %lld ns\n", (long long)(in_primary - in_linux));
	in_process(measure_hand_over, "hand_over_pi_linux", URGENT);
	in_process(measure_hand_over_primary, "hand_over_pi", URGENT);
}
