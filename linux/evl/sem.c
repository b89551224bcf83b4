// SPDX-License-Identifier: GPL-2.0-only
/* Semaphores. */
#include <errno.h>
#include <evl/evl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>

#include "object.h"
#include "primary/call.h"
#include "primary/lock.h"
#include "threads.h"

struct sem {
	struct evl_object object;
	struct primary_queue waiters;
	unsigned int value;
};

static struct sem *sem_of(struct evl_object *object)
{
	return holder_of(object, struct sem, object);
}

/* The count; of one that processes share, also 0 for an error. */
static unsigned int value_of(const struct sem *sem)
{
	long value;

	if (!sem->object.shared)
		return sem->value;
	value = PRIMARY_CALL(SEMAPHORE_VALUE, sem->object.shared, 0, 0, 0);
	return value > 0 ? value : 0;
}

static unsigned int events(struct evl_object *object)
{
	return value_of(sem_of(object)) ? POLLIN | POLLRDNORM : 0;
}

static void closes(struct evl_object *object)
{
	primary_wake_all(&sem_of(object)->waiters, -EIDRM);
}

static void ends(struct evl_object *object)
{
	free(sem_of(object));
}

static int make(struct sem **made, int clockfd, int value, int flags)
{
	clockid_t clock;
	struct sem *sem;

	if (!evl_clock(clockfd, &clock) || value < 0 || flags & ~EVL_CLONE_MASK)
		return -EINVAL;
	evl_init();
	sem = calloc(1, sizeof(*sem));
	if (!sem)
		return -ENOMEM;
	sem->object.clock = clock;
	sem->value = sem->object.shared_value = value;
	primary_queue_init(&sem->waiters, true);
	*made = sem;
	return 0;
}

static int make_static(struct evl_element *element);

static int make_shared(struct evl_object **made);

static const struct evl_kind sems = {
	.events = events, .changes = evl_looks_again, .closes = closes, .ends = ends, .make = make_static,
	.shared_kind = PILLION_DUAL_OBJECT_SEMAPHORE, .make_shared = make_shared
};

static int make_shared(struct evl_object **made)
{
	struct sem *sem;
	int error = make(&sem, EVL_CLOCK_MONOTONIC, 0, 0);

	if (!error)
		*made = &sem->object;
	return error;
}

static int make_static(struct evl_element *element)
{
	struct sem *made;
	int result = make(&made, element->clockfd, element->value, element->flags);

	if (result)
		return result;
	result = evl_give_static(element, &made->object, &sems);
	if (result < 0)
		free(made);
	return result;
}

int evl_create_sem(struct evl_sem *sem, int clockfd, int value, int flags, const char *format, ...)
{
	va_list arguments;
	struct sem *made;
	int result = make(&made, clockfd, value, flags);

	if (result)
		return result;
	va_start(arguments, format);
	result = evl_give(&sem->element, &made->object, &sems, flags, format, arguments);
	va_end(arguments);
	if (result < 0)
		free(made);
	return result;
}

int evl_open_sem(struct evl_sem *sem, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = evl_open(&sem->element, &sems, format, arguments);
	va_end(arguments);
	return result;
}

static void give(struct sem *sem)
{
	struct primary_wait *wait = primary_first(&sem->waiters);

	if (wait) {
		primary_wake(wait, 0);
		return;
	}
	sem->value++;
	evl_changed(&sem->object);
}

static void give_back(struct primary_wait *wait)
{
	give(wait->data);
}

static int take(struct sem *sem, struct primary_end end)
{
	struct primary_wait wait = { .data = sem, .give_back = give_back };

	if (sem->object.shared)
		return evl_wait_shared(&sem->object, 0, end);
	if (!sem->value)
		return evl_wait(&sem->object, &sem->waiters, &wait, end);
	sem->value--;
	return 0;
}

int evl_timedget_sem(struct evl_sem *sem, const struct timespec *timeout)
{
	struct primary_end end;
	struct sem *found;

	if (!evl_current)
		return -EPERM;
	found = evl_enter(&sem->element, &sems);
	if (!found)
		return -EINVAL;
	return evl_leave(found, evl_end(&found->object, timeout, &end) ? take(found, end) : -EINVAL);
}

int evl_get_sem(struct evl_sem *sem)
{
	return evl_timedget_sem(sem, NULL);
}

int evl_tryget_sem(struct evl_sem *sem)
{
	struct sem *found = evl_enter(&sem->element, &sems);

	return found ? evl_leave(found, take(found, PRIMARY_TRY)) : -EINVAL;
}

/* Those of this process that poll need not wait until they look again. */
static int put_shared(struct sem *sem)
{
	long result;

	primary_unlock();
	result = PRIMARY_CALL(SEMAPHORE_POST, sem->object.shared, 0, 0, 0);
	primary_lock();
	evl_changed(&sem->object);
	return result;
}

int evl_put_sem(struct evl_sem *sem)
{
	struct sem *found = evl_enter(&sem->element, &sems);

	if (!found)
		return -EINVAL;
	if (found->object.shared)
		return evl_leave(found, put_shared(found));
	if (found->value == INT_MAX)
		return evl_leave(found, -EOVERFLOW);
	give(found);
	return evl_leave(found, 0);
}

/* Threads that wait for it go on waiting: what ends their waits here gives them the semaphore. */
static int flush_shared(struct sem *sem)
{
	unsigned int count = value_of(sem);

	while (count-- && !evl_wait_shared(&sem->object, 0, PRIMARY_TRY))
		;
	return 0;
}

int evl_flush_sem(struct evl_sem *sem)
{
	struct sem *found = evl_enter(&sem->element, &sems);

	if (!found)
		return -EINVAL;
	if (found->object.shared)
		return evl_leave(found, flush_shared(found));
	primary_wake_all(&found->waiters, -EAGAIN);
	found->value = 0;
	return evl_leave(found, 0);
}

int evl_peek_sem(struct evl_sem *sem, int *value)
{
	struct sem *found = evl_enter(&sem->element, &sems);

	if (!found)
		return -EINVAL;
	*value = value_of(found);
	if (!*value)
		*value = -(int)primary_count(&found->waiters);
	return evl_leave(found, 0);
}

int evl_close_sem(struct evl_sem *sem)
{
	return evl_close(&sem->element, &sems);
}
