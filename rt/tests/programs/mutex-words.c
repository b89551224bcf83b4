/*
 * A mutex whose word changes while a less urgent thread is in the slow way of the same mutex: the
 * owner releases it before the thread has noted that it waits, and a thread takes it that did not
 * wait while another one passes it on. Each is tried at some hundred distances.
 *
 * prints: released meanwhile: 300 times, 0 waited for nobody
 * prints: taken meanwhile: 500 times, 0 times by two
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pthread.h>
#include <time.h>
#include <pillion.h>

#include "start.h"

#define NEAR 20000

static pthread_mutex_t mutex;
static hrtime_t meeting;
static int lead, late, inside, both;

static void until(hrtime_t time)
{
	struct timespec at = timespec_from_ns(time);

	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL);
}

static void arrive(int before)
{
	until(meeting - NEAR);
	while (gethrtime() < meeting - before)
		;
}

/* Has the mutex until the meeting. */
static void *owner(void *unused)
{
	pthread_mutex_lock(&mutex);
	until(meeting);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *waiter(void *unused)
{
	struct timespec limit = timespec_from_ns(meeting + 10 * NEAR);

	arrive(lead);
	pthread_mutex_timedlock(&mutex, &limit);
	late += gethrtime() > meeting + 5 * NEAR;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *visitor(void *sleeps)
{
	if (sleeps)
		until(meeting);
	pthread_mutex_lock(&mutex);
	both += inside++ != 0;
	usleep(50);
	inside--;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* Has the mutex while two wait for it, and passes it on as a third one comes. */
static void *giver(void *unused)
{
	pthread_mutex_lock(&mutex);
	arrive(lead);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void meet(void *(*const bodies[])(void *), const int priorities[], void *const arguments[], int count)
{
	pthread_t threads[4];
	int i;

	meeting = gethrtime() + 10 * NEAR;
	for (i = 0; i < count; i++)
		start(&threads[i], priorities[i], bodies[i], arguments[i]);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

int init_module(void)
{
	void *(*const first[])(void *) = { owner, waiter };
	void *(*const second[])(void *) = { giver, visitor, visitor, visitor };
	void *const arguments[] = { NULL, NULL, NULL, &mutex };
	int n;

	pthread_mutex_init(&mutex, NULL);
	for (n = 0; n < 300; n++) {
		lead = 8 * n;
		meet(first, (int[]){ 20, 10 }, arguments, 2);
	}
	rtl_printf("released meanwhile: %d times, %d waited for nobody\n", n, late);
	for (n = 0; n < 500; n++) {
		lead = 8 * n;
		meet(second, (int[]){ 10, 9, 8, 20 }, arguments, 4);
	}
	rtl_printf("taken meanwhile: %d times, %d times by two\n", n, both);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
