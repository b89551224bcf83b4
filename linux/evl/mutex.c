// SPDX-License-Identifier: GPL-2.0-only
/* Mutexes: primary mode's, or the C library's if there is no primary mode. */
#include "mutexes.h"

#include <errno.h>
#include <evl/evl.h>
#include <stdlib.h>

#include "primary/call.h"
#include "primary/lock.h"
#include "threads.h"

static void ends(struct evl_object *object)
{
	struct mutex *mutex = holder_of(object, struct mutex, object);

	if (mutex->is_native)
		pthread_mutex_destroy(&mutex->native);
	else if (!mutex->own.is_shared && primary_mutex_destroy(&mutex->own, true))
		/* A thread owns it: its word stays. */
		return;
	free(mutex);
}

static int make_native(struct mutex *mutex, unsigned int ceiling, bool is_recursive)
{
	pthread_mutexattr_t attributes;
	int error;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, is_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutexattr_setprotocol(&attributes, ceiling ? PTHREAD_PRIO_PROTECT : PTHREAD_PRIO_INHERIT);
	if (ceiling)
		pthread_mutexattr_setprioceiling(&attributes, ceiling);
	error = pthread_mutex_init(&mutex->native, &attributes);
	pthread_mutexattr_destroy(&attributes);
	return -error;
}

static int make_in(struct mutex *mutex, unsigned int ceiling, bool is_recursive)
{
	mutex->is_native = !primary_is_there();
	if (mutex->is_native)
		return make_native(mutex, ceiling, is_recursive);
	mutex->own.kind = is_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_ERRORCHECK;
	mutex->own.inherits = !ceiling;
	mutex->own.ceiling = ceiling;
	return primary_mutex_make(&mutex->own);
}

/* One that nobody knows yet; or an error. */
static int make(struct mutex **made, int clockfd, unsigned int ceiling, int flags)
{
	struct mutex *mutex;
	clockid_t clock;
	int error;

	if (!evl_clock(clockfd, &clock) || ceiling > PILLION_DUAL_OBJECT_CEILING_MAX ||
	    flags & ~(EVL_MUTEX_RECURSIVE | EVL_CLONE_MASK))
		return -EINVAL;
	evl_init();
	mutex = calloc(1, sizeof(*mutex));
	if (!mutex)
		return -ENOMEM;
	mutex->object.clock = clock;
	mutex->object.shared_value = ceiling;
	mutex->object.shared_flags = PILLION_DUAL_OBJECT_CHECKED | (ceiling ? 0 : PILLION_DUAL_OBJECT_INHERIT);
	if (flags & EVL_MUTEX_RECURSIVE)
		mutex->object.shared_flags |= PILLION_DUAL_OBJECT_RECURSIVE;
	error = make_in(mutex, ceiling, flags & EVL_MUTEX_RECURSIVE);
	if (error) {
		free(mutex);
		return error;
	}
	*made = mutex;
	return 0;
}

static int make_static(struct evl_element *element);

/* It is not made, unless the process shares none. */
static int make_shared(struct evl_object **made)
{
	struct mutex *mutex = calloc(1, sizeof(*mutex));

	if (!mutex)
		return -ENOMEM;
	mutex->object.clock = CLOCK_MONOTONIC;
	*made = &mutex->object;
	return 0;
}

/* The task knows what kind of mutex it is. */
static void shares(struct evl_object *object)
{
	struct mutex *mutex = holder_of(object, struct mutex, object);

	primary_mutex_destroy(&mutex->own, true);
	primary_mutex_share(&mutex->own, object->shared);
}

static const struct evl_kind mutexes = {
	.ends = ends, .make = make_static, .shared_kind = PILLION_DUAL_OBJECT_MUTEX, .make_shared = make_shared,
	.shares = shares
};

static int make_static(struct evl_element *element)
{
	struct mutex *made;
	int result = make(&made, element->clockfd, element->value, element->flags);

	if (result)
		return result;
	result = evl_give_static(element, &made->object, &mutexes);
	if (result < 0)
		ends(&made->object);
	return result;
}

int evl_create_mutex(struct evl_mutex *mutex, int clockfd, unsigned int ceiling, int flags, const char *format, ...)
{
	struct mutex *made;
	va_list arguments;
	int result = make(&made, clockfd, ceiling, flags);

	if (result)
		return result;
	va_start(arguments, format);
	result = evl_give(&mutex->element, &made->object, &mutexes, flags, format, arguments);
	va_end(arguments);
	if (result < 0)
		ends(&made->object);
	return result;
}

int evl_open_mutex(struct evl_mutex *mutex, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = evl_open(&mutex->element, &mutexes, format, arguments);
	va_end(arguments);
	return result;
}

struct mutex *evl_mutex(struct evl_mutex *mutex)
{
	return evl_find(&mutex->element, &mutexes);
}

static int lock_native(struct mutex *mutex, struct primary_end end)
{
	struct timespec time;
	int error;

	if (end.clock == PRIMARY_AT_ONCE) {
		error = pthread_mutex_trylock(&mutex->native);
		/* The owner is told what others are, as in primary mode. */
		return error == EDEADLK ? -EBUSY : -error;
	}
	if (end.clock == PRIMARY_NEVER)
		return -pthread_mutex_lock(&mutex->native);
	time = primary_timespec(end.ns);
	return -pthread_mutex_clocklock(&mutex->native, end.clock, &time);
}

int evl_mutex_lock(struct mutex *mutex, struct primary_end end)
{
	uint64_t clock = end.clock;
	int error;

	if (end.clock == PRIMARY_AT_ONCE)
		clock = PILLION_DUAL_SERVICE_TRY;
	if (end.clock == PRIMARY_NEVER)
		clock = PILLION_DUAL_SERVICE_FOREVER;
	error = mutex->is_native ? lock_native(mutex, end) : primary_mutex_lock(&mutex->own, clock, end.ns);
	/* Its owner's process has ended. */
	if (error == -EOWNERDEAD)
		error = 0;
	if (!error && evl_current)
		evl_current->owned++;
	return error;
}

int evl_mutex_unlock(struct mutex *mutex)
{
	int error = mutex->is_native ? -pthread_mutex_unlock(&mutex->native) : primary_mutex_unlock(&mutex->own);

	if (!error && evl_current && evl_current->owned)
		evl_current->owned--;
	return error;
}

static int lock(struct evl_mutex *mutex, const struct timespec *timeout, bool waits)
{
	struct mutex *found = evl_mutex(mutex);
	struct primary_end end = PRIMARY_TRY;

	if (!found || (waits && !evl_end(&found->object, timeout, &end)))
		return -EINVAL;
	if (!evl_current)
		return -EPERM;
	return evl_mutex_lock(found, end);
}

int evl_lock_mutex(struct evl_mutex *mutex)
{
	return lock(mutex, NULL, true);
}

int evl_timedlock_mutex(struct evl_mutex *mutex, const struct timespec *timeout)
{
	return lock(mutex, timeout, true);
}

int evl_trylock_mutex(struct evl_mutex *mutex)
{
	return lock(mutex, NULL, false);
}

int evl_unlock_mutex(struct evl_mutex *mutex)
{
	struct mutex *found = evl_mutex(mutex);
	int error;

	if (!found)
		return -EINVAL;
	error = evl_mutex_unlock(found);
	if (error == -EPERM)
		evl_tell(EVL_T_WOLI, EVL_HMDIAG_LKIMBALANCE);
	return error;
}

void evl_sleeps(void)
{
	if (!evl_current)
		return;
	evl_current->has_slept = false;
	if (evl_current->owned)
		evl_tell(EVL_T_WOLI, EVL_HMDIAG_LKSLEEP);
}

int evl_set_mutex_ceiling(struct evl_mutex *mutex, unsigned int ceiling)
{
	struct mutex *found = evl_mutex(mutex);
	int before;

	if (!found || !ceiling || ceiling > PILLION_DUAL_OBJECT_CEILING_MAX)
		return -EINVAL;
	if (found->is_native)
		return -pthread_mutex_setprioceiling(&found->native, ceiling, &before);
	before = primary_mutex_ceiling(&found->own, ceiling);
	return before < 0 ? before : 0;
}

int evl_get_mutex_ceiling(struct evl_mutex *mutex)
{
	struct mutex *found = evl_mutex(mutex);
	int ceiling, error;

	if (!found)
		return -EINVAL;
	if (!found->is_native)
		return primary_mutex_ceiling(&found->own, 0);
	error = pthread_mutex_getprioceiling(&found->native, &ceiling);
	return error ? -error : ceiling;
}

int evl_close_mutex(struct evl_mutex *mutex)
{
	return evl_close(&mutex->element, &mutexes);
}
