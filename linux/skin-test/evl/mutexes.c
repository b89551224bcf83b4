// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program for EVL: mutexes with a ceiling. Its threads share one processor, so that their order
 * is that of their priorities.
 */
#include <evl/evl.h>
#include <sched.h>

#include "../check.h"

static bool has_primary;

/* What happened, a letter each. */
static char story[16];
static unsigned int told;

static void tell(char what)
{
	story[told++] = what;
}

static struct evl_mutex mutex, later = EVL_MUTEX_INITIALIZER("later", EVL_CLOCK_MONOTONIC, 45, EVL_MUTEX_NORMAL);
static struct evl_event event;
static struct evl_sem middle, high;

static void make(unsigned int ceiling, int flags)
{
	memset(story, 0, sizeof(story));
	told = 0;
	check(evl_create_mutex(&mutex, EVL_CLOCK_MONOTONIC, ceiling, flags, NULL) >= 0);
}

static void *runs_between(void *nothing)
{
	check(evl_attach_self("middle") >= 0 && !evl_get_sem(&middle));
	tell('m');
	return nothing;
}

static void *locks(void *nothing)
{
	check(evl_attach_self("high") >= 0 && !evl_get_sem(&high) && !evl_lock_mutex(&mutex));
	tell('h');
	check(!evl_unlock_mutex(&mutex));
	return nothing;
}

/* Wakes a thread of middle priority, and one that wants the mutex. */
static void *owns(void *nothing)
{
	check(evl_attach_self("low") >= 0 && !evl_lock_mutex(&mutex));
	tell('(');
	check(!evl_put_sem(&middle) && !evl_put_sem(&high));
	tell(')');
	check(!evl_unlock_mutex(&mutex));
	tell('l');
	return nothing;
}

static void three(unsigned int ceiling, const char *expected)
{
	pthread_t threads[3];
	int i;

	make(ceiling, EVL_MUTEX_NORMAL);
	check(evl_new_sem(&middle, NULL) >= 0 && evl_new_sem(&high, NULL) >= 0);
	threads[0] = start(30, locks, NULL);
	threads[1] = start(20, runs_between, NULL);
	rest(20 * MS);
	threads[2] = start(10, owns, NULL);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("order with ceiling %u: %s\n", ceiling, story);
	check(!strcmp(story, expected));
	check(!evl_close_mutex(&mutex) && !evl_close_sem(&middle) && !evl_close_sem(&high));
}

static void *limits(void *nothing)
{
	check(evl_attach_self("limits") >= 0);
	has_primary = !evl_is_inband();
	check(evl_create_mutex(&mutex, EVL_CLOCK_MONOTONIC, 100, 0, NULL) == -EINVAL);
	make(40, EVL_MUTEX_RECURSIVE);
	check(evl_get_mutex_ceiling(&mutex) == 40);
	check(evl_lock_mutex(&mutex) == -EINVAL && evl_trylock_mutex(&mutex) == -EINVAL && evl_unlock_mutex(&mutex) == -EPERM);
	check(evl_set_mutex_ceiling(&mutex, 0) == -EINVAL && evl_set_mutex_ceiling(&mutex, 100) == -EINVAL);
	check(!evl_set_mutex_ceiling(&mutex, 60) && evl_get_mutex_ceiling(&mutex) == 60);
	check(!evl_lock_mutex(&mutex) && !evl_lock_mutex(&mutex) && !evl_unlock_mutex(&mutex) && !evl_unlock_mutex(&mutex));
	check(!evl_close_mutex(&mutex) && evl_get_mutex_ceiling(&mutex) == -EINVAL);
	check(evl_lock_mutex(&later) == -EINVAL && evl_get_mutex_ceiling(&later) == 45);
	make(0, EVL_MUTEX_NORMAL);
	check(evl_set_mutex_ceiling(&mutex, 60) == -EINVAL && evl_get_mutex_ceiling(&mutex) == -EINVAL && !evl_close_mutex(&mutex));
	printf("ok limits, in %s\n", has_primary ? "primary mode" : "Linux alone");
	return nothing;
}

static bool is_set;

static void *waits(void *nothing)
{
	check(evl_attach_self("waits") >= 0 && !evl_lock_mutex(&mutex));
	while (!is_set)
		check(!evl_wait_event(&event, &mutex));
	tell('w');
	check(!evl_unlock_mutex(&mutex));
	return nothing;
}

/* A thread that waits for an event has its own priority, and the ceiling with the mutex. */
static void *signals(void *nothing)
{
	pthread_t waiter;

	check(evl_attach_self("signals") >= 0 && evl_new_event(&event, NULL) >= 0);
	make(40, EVL_MUTEX_NORMAL);
	waiter = start(10, waits, NULL);
	rest(20 * MS);
	check(!evl_lock_mutex(&mutex));
	is_set = true;
	check(!evl_signal_event(&event));
	tell('s');
	check(!evl_unlock_mutex(&mutex));
	tell('e');
	pthread_join(waiter, NULL);
	check(!strcmp(story, "sew") && !evl_close_mutex(&mutex) && !evl_close_event(&event));
	printf("ok an event\n");
	return nothing;
}

int main(void)
{
	cpu_set_t one;

	setvbuf(stdout, NULL, _IOLBF, 0);
	evl_init();
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	check(!sched_setaffinity(0, sizeof(one), &one));
	pthread_join(start(50, limits, NULL), NULL);
	three(0, "(m)hl");
	three(40, "()hml");
	printf("ok ceilings\n");
	pthread_join(start(20, signals, NULL), NULL);
	printf("mutexes: good\n");
	return 0;
}
