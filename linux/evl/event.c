// SPDX-License-Identifier: GPL-2.0-only
/* Events. A thread that waits has the mutex back when the wait has ended, whatever ended it. */
#include <errno.h>
#include <evl/evl.h>
#include <stdlib.h>

#include "mutexes.h"
#include "primary/call.h"
#include "primary/lock.h"
#include "threads.h"

struct event {
	struct evl_object object;
	struct primary_queue waiters;
};

static struct event *event_of(struct evl_object *object)
{
	return holder_of(object, struct event, object);
}

static void closes(struct evl_object *object)
{
	primary_wake_all(&event_of(object)->waiters, -EIDRM);
}

static void ends(struct evl_object *object)
{
	free(event_of(object));
}

static int make(struct event **made, int clockfd, int flags)
{
	struct event *event;
	clockid_t clock;

	if (!evl_clock(clockfd, &clock) || flags & ~EVL_CLONE_MASK)
		return -EINVAL;
	evl_init();
	event = calloc(1, sizeof(*event));
	if (!event)
		return -ENOMEM;
	event->object.clock = clock;
	primary_queue_init(&event->waiters, true);
	*made = event;
	return 0;
}

static int make_static(struct evl_element *element);

static int make_shared(struct evl_object **made);

static const struct evl_kind events = {
	.closes = closes, .ends = ends, .make = make_static, .shared_kind = PILLION_DUAL_OBJECT_CONDITION,
	.make_shared = make_shared
};

static int make_shared(struct evl_object **made)
{
	struct event *event;
	int error = make(&event, EVL_CLOCK_MONOTONIC, 0);

	if (!error)
		*made = &event->object;
	return error;
}

static int make_static(struct evl_element *element)
{
	struct event *made;
	int result = make(&made, element->clockfd, element->flags);

	if (result)
		return result;
	result = evl_give_static(element, &made->object, &events);
	if (result < 0)
		free(made);
	return result;
}

int evl_create_event(struct evl_event *event, int clockfd, int flags, const char *format, ...)
{
	struct event *made;
	va_list arguments;
	int result = make(&made, clockfd, flags);

	if (result)
		return result;
	va_start(arguments, format);
	result = evl_give(&event->element, &made->object, &events, flags, format, arguments);
	va_end(arguments);
	if (result < 0)
		free(made);
	return result;
}

int evl_open_event(struct evl_event *event, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = evl_open(&event->element, &events, format, arguments);
	va_end(arguments);
	return result;
}

/* Nobody signals the event between the mutex's end and the wait: that needs the lock. */
static int wait_unlocked(struct event *event, struct mutex *mutex, struct primary_end end)
{
	struct primary_wait wait = { 0 };
	int error = evl_mutex_unlock(mutex);

	return evl_leave(event, error ? error : evl_wait(&event->object, &event->waiters, &wait, end));
}

/* Waits for one that processes share. The real-time side gives up the mutex, and gets it back. */
static int wait_shared(struct event *event, struct mutex *mutex, struct primary_end end)
{
	int error;

	primary_unlock();
	evl_current->owned -= !!evl_current->owned;
	evl_current->has_slept = evl_current->owned;
	error = primary_mutex_wait(&mutex->own, event->object.shared, primary_clock(end), end.ns);
	if (error != -EPERM)
		evl_current->owned++;
	primary_lock();
	/* The mutex's owner was in another process, which has ended. */
	return evl_leave(event, error == -EOWNERDEAD ? 0 : error);
}

int evl_timedwait_event(struct evl_event *event, struct evl_mutex *mutex, const struct timespec *timeout)
{
	struct mutex *lock = evl_mutex(mutex);
	struct primary_end end;
	struct event *found;
	int error, relocked;

	if (!evl_current)
		return -EPERM;
	found = lock ? evl_enter(&event->element, &events) : NULL;
	if (!found)
		return -EINVAL;
	if (!evl_end(&found->object, timeout, &end))
		return evl_leave(found, -EINVAL);
	if (found->object.shared)
		return wait_shared(found, lock, end);
	error = wait_unlocked(found, lock, end);
	if (error == -EPERM)
		return error;
	relocked = evl_mutex_lock(lock, PRIMARY_FOREVER);
	return relocked ? relocked : error;
}

int evl_wait_event(struct evl_event *event, struct evl_mutex *mutex)
{
	return evl_timedwait_event(event, mutex, NULL);
}

/* Wakes the most urgent thread, or all; or a thread of this process, if that waits. */
static int wake_shared(struct event *event, bool all, pid_t thread)
{
	int result;

	primary_unlock();
	result = PRIMARY_CALL(CONDITION_WAKE, event->object.shared, all, thread, 0);
	primary_lock();
	return result;
}

int evl_signal_event(struct evl_event *event)
{
	struct event *found = evl_enter(&event->element, &events);
	struct primary_wait *wait;

	if (!found)
		return -EINVAL;
	if (found->object.shared)
		return evl_leave(found, wake_shared(found, false, 0));
	wait = primary_first(&found->waiters);
	if (wait)
		primary_wake(wait, 0);
	return evl_leave(found, 0);
}

int evl_signal_thread(struct evl_event *event, int efd)
{
	struct event *found = evl_find(&event->element, &events);
	struct evl_thread *thread;
	struct primary_wait *wait;

	if (!found)
		return -EINVAL;
	thread = evl_enter_file(efd, &evl_threads);
	if (!thread)
		return -EBADF;
	if (found->object.shared)
		return evl_leave(thread, thread->thread ? wake_shared(found, false, thread->tid) : 0);
	wait = thread->thread ? thread->thread->wait : NULL;
	if (wait && wait->queue == &found->waiters && !wait->has_ended)
		primary_wake(wait, 0);
	return evl_leave(thread, 0);
}

int evl_broadcast_event(struct evl_event *event)
{
	struct event *found = evl_enter(&event->element, &events);

	if (!found)
		return -EINVAL;
	if (found->object.shared)
		return evl_leave(found, wake_shared(found, true, 0));
	primary_wake_all(&found->waiters, 0);
	return evl_leave(found, 0);
}

int evl_close_event(struct evl_event *event)
{
	return evl_close(&event->element, &events);
}
