// SPDX-License-Identifier: GPL-2.0-only
#include "timer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "lock.h"
#include "wait.h"

#define STACK (64 << 10)

/* Timers that are started, and the thread that waits for the first one. */
static struct link timers = LINK_INIT(timers);
static struct primary_queue server = PRIMARY_QUEUE_INIT(server, false);
/* Threads that wait for a timer that is called. */
static struct primary_queue enders = PRIMARY_QUEUE_INIT(enders, true);
static bool is_served;
static pthread_t server_thread;
/* The timer that is called now. */
static struct primary_timer *called;

void primary_timer_init(struct primary_timer *timer, clockid_t clock,
			void (*expires)(struct primary_timer *timer, uint64_t times))
{
	memset(timer, 0, sizeof(*timer));
	link_init(&timer->link);
	timer->clock = clock;
	timer->expires = expires;
}

static struct primary_timer *earliest(int64_t *rest)
{
	struct primary_timer *first = NULL;

	for each_link(link, &timers) {
		struct primary_timer *timer = holder_of(link, struct primary_timer, link);
		int64_t own = timer->next - primary_now(timer->clock);

		if (!first || own < *rest) {
			first = timer;
			*rest = own;
		}
	}
	return first;
}

/* Calls a timer that is late by so many nanoseconds. */
static void expire(struct primary_timer *timer, int64_t late)
{
	uint64_t times = 1;

	if (timer->interval) {
		times += late / timer->interval;
		timer->next = primary_sum(timer->next, primary_times(timer->interval, times));
	} else {
		timer->next = 0;
		link_remove(&timer->link);
	}
	called = timer;
	primary_unlock();
	timer->expires(timer, times);
	primary_lock();
	called = NULL;
	primary_wake_all(&enders, 0);
}

static void *serve(void *nothing)
{
	/* It becomes known before it has the lock: that takes calls of Linux's. */
	primary_self();
	primary_lock();
	for (;;) {
		struct primary_wait wait = { 0 };
		int64_t rest = 0;
		struct primary_timer *first = earliest(&rest);

		if (first && rest <= 0)
			expire(first, -rest);
		else if (first)
			primary_wait(&server, &wait, PRIMARY_UNTIL(first->clock, first->next));
		else
			primary_wait(&server, &wait, PRIMARY_FOREVER);
	}
	return nothing;
}

/* Only the thread that forks is in the child. */
static void child(void)
{
	is_served = false;
	link_init(&timers);
	link_init(&server.waits);
	link_init(&enders.waits);
}

/* Without the right to be urgent, the thread is an ordinary one, as the others are. */
static int make_server(void)
{
	struct sched_param urgent = { .sched_priority = sched_get_priority_max(SCHED_FIFO) };
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &urgent);
	error = pthread_create(&server_thread, &attributes, serve, NULL);
	if (error == EPERM) {
		pthread_attr_setinheritsched(&attributes, PTHREAD_INHERIT_SCHED);
		error = pthread_create(&server_thread, &attributes, serve, NULL);
	}
	pthread_attr_destroy(&attributes);
	return error;
}

static int begin(void)
{
	static bool is_prepared;
	int error;

	if (is_served)
		return 0;
	is_served = true;
	primary_unlock();
	error = make_server();
	primary_lock();
	if (error)
		is_served = false;
	else if (!is_prepared)
		is_prepared = !pthread_atfork(NULL, NULL, child);
	return -error;
}

int primary_timer_start(struct primary_timer *timer, int64_t first, int64_t interval)
{
	struct primary_wait *wait;
	int error = first ? begin() : 0;

	if (error)
		return error;
	link_remove(&timer->link);
	timer->next = first;
	timer->interval = interval;
	if (first)
		link_before(&timer->link, &timers);
	wait = primary_first(&server);
	if (wait)
		primary_wake(wait, 0);
	return 0;
}

void primary_timer_end(struct primary_timer *timer)
{
	struct primary_wait wait = { 0 };

	primary_timer_start(timer, 0, 0);
	while (called == timer && !pthread_equal(pthread_self(), server_thread))
		primary_wait(&enders, &wait, PRIMARY_FOREVER);
}
