// SPDX-License-Identifier: GPL-2.0-only
/*
 * Monitors: a lock, and threads inside that wait to be granted something, or until all is drained.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/cobalt.h>

#include "internal.h"
#include "primary/lock.h"
#include "primary/native.h"
#include "primary/wait.h"

#define MAGIC 0x4d6f6e69

struct cobalt_monitor_state {
	pthread_mutex_t lock;
	struct primary_queue grants;
	struct primary_queue drains;
};

int __real_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int __real_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);

int cobalt_monitor_init(cobalt_monitor_t *monitor, clockid_t clock, int flags)
{
	pthread_mutexattr_t attributes;
	struct cobalt_monitor_state *state;

	/* Its threads are of one process. */
	if (flags)
		return -EINVAL;
	state = malloc(sizeof(*state));
	if (!state)
		return -ENOMEM;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	/* What is not the caller's is not freed. */
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	__real_pthread_mutex_init(&state->lock, &attributes);
	primary_queue_init(&state->grants, true);
	primary_queue_init(&state->drains, true);
	*monitor = (cobalt_monitor_t){ .magic = MAGIC, .clock = clock, .state = state };
	return 0;
}

int cobalt_monitor_destroy(cobalt_monitor_t *monitor)
{
	struct cobalt_monitor_state *state = monitor->state;
	int error;

	if (monitor->magic != MAGIC)
		return -EINVAL;
	primary_lock();
	error = primary_first(&state->grants) || primary_first(&state->drains) ? EBUSY : 0;
	primary_unlock();
	if (!error)
		error = __real_pthread_mutex_destroy(&state->lock);
	if (!error) {
		monitor->magic = 0;
		free(state);
	}
	return -error;
}

int cobalt_monitor_enter(cobalt_monitor_t *monitor)
{
	return monitor->magic == MAGIC ? -__real_pthread_mutex_lock(&monitor->state->lock) : -EINVAL;
}

int cobalt_monitor_exit(cobalt_monitor_t *monitor)
{
	return monitor->magic == MAGIC ? -__real_pthread_mutex_unlock(&monitor->state->lock) : -EINVAL;
}

int cobalt_monitor_wait(cobalt_monitor_t *monitor, int event, const struct timespec *time)
{
	struct cobalt_monitor_state *state = monitor->state;
	struct primary_end end = PRIMARY_FOREVER;
	struct primary_wait wait = { 0 };
	int result;

	if (time)
		end = PRIMARY_UNTIL(monitor->clock, primary_ns(time));
	if (monitor->magic != MAGIC || end.ns < 0)
		return -EINVAL;
	primary_lock();
	result = -__real_pthread_mutex_unlock(&state->lock);
	if (result) {
		primary_unlock();
		return result;
	}
	result = primary_wait(event == COBALT_MONITOR_WAITDRAIN ? &state->drains : &state->grants, &wait, end);
	primary_unlock();
	__real_pthread_mutex_lock(&state->lock);
	return result;
}

struct xnthread_user_window *cobalt_get_current_window(void)
{
	return (struct xnthread_user_window *)primary_self();
}

/* Lets those in that were woken, for a moment without the lock. */
static int let_in(cobalt_monitor_t *monitor)
{
	int error = cobalt_monitor_exit(monitor);

	return error ? error : cobalt_monitor_enter(monitor);
}

void cobalt_monitor_grant(cobalt_monitor_t *monitor, struct xnthread_user_window *window)
{
	struct primary_thread *thread = (struct primary_thread *)window;

	primary_lock();
	if (thread->wait && thread->wait->queue == &monitor->state->grants && !thread->wait->has_ended)
		primary_wake(thread->wait, 0);
	primary_unlock();
}

int cobalt_monitor_grant_sync(cobalt_monitor_t *monitor, struct xnthread_user_window *window)
{
	cobalt_monitor_grant(monitor, window);
	return let_in(monitor);
}

static void wake_all(struct primary_queue *queue)
{
	primary_lock();
	primary_wake_all(queue, 0);
	primary_unlock();
}

void cobalt_monitor_grant_all(cobalt_monitor_t *monitor)
{
	wake_all(&monitor->state->grants);
}

int cobalt_monitor_grant_all_sync(cobalt_monitor_t *monitor)
{
	wake_all(&monitor->state->grants);
	return let_in(monitor);
}

void cobalt_monitor_drain(cobalt_monitor_t *monitor)
{
	struct primary_wait *first;

	primary_lock();
	first = primary_first(&monitor->state->drains);
	if (first)
		primary_wake(first, 0);
	primary_unlock();
}

int cobalt_monitor_drain_sync(cobalt_monitor_t *monitor)
{
	cobalt_monitor_drain(monitor);
	return let_in(monitor);
}

void cobalt_monitor_drain_all(cobalt_monitor_t *monitor)
{
	wake_all(&monitor->state->drains);
}

int cobalt_monitor_drain_all_sync(cobalt_monitor_t *monitor)
{
	wake_all(&monitor->state->drains);
	return let_in(monitor);
}
