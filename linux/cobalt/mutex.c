// SPDX-License-Identifier: GPL-2.0-only
/* Mutexes. One that is statically initialised is made when it is first used. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "internal.h"
#include "mutex.h"

_Static_assert(sizeof(struct mutex) <= sizeof(pthread_mutex_t), "a mutex has room for one");

/* Bits of a kind of the C library's that primary mode does not have. */
#define OTHER_KINDS (~3)

static bool is_native(const struct mutex *mutex)
{
	return !primary_is_there() || mutex->kind & OTHER_KINDS;
}

/* The handle of a mutex; negative: there is none, and this is the error. */
long cobalt_mutex(pthread_mutex_t *pthread_mutex)
{
	struct mutex *mutex = (struct mutex *)pthread_mutex;
	uint64_t flags = mutex->inherits ? PILLION_DUAL_OBJECT_INHERIT : 0;
	int error;

	if (is_native(mutex))
		return -EINVAL;
	if (mutex->kind == PTHREAD_MUTEX_RECURSIVE)
		flags |= PILLION_DUAL_OBJECT_RECURSIVE;
	if (mutex->kind == PTHREAD_MUTEX_ERRORCHECK)
		flags |= PILLION_DUAL_OBJECT_CHECKED;
	error = primary_make(&mutex->handle, PILLION_DUAL_OBJECT_MUTEX, mutex->ceiling, flags);
	return error ? -error : (long)mutex->handle;
}

WRAP(int, pthread_mutex_init, pthread_mutex_t *pthread_mutex, const pthread_mutexattr_t *attributes)
{
	int type = PTHREAD_MUTEX_NORMAL, protocol = PTHREAD_PRIO_NONE, shared = 0, robust = 0, ceiling = 0;
	struct mutex *mutex = (struct mutex *)pthread_mutex;
	long handle;

	if (attributes) {
		pthread_mutexattr_gettype(attributes, &type);
		pthread_mutexattr_getprotocol(attributes, &protocol);
		pthread_mutexattr_getpshared(attributes, &shared);
		pthread_mutexattr_getrobust(attributes, &robust);
		pthread_mutexattr_getprioceiling(attributes, &ceiling);
	}
	if (!primary_is_there() || shared != PTHREAD_PROCESS_PRIVATE || robust != PTHREAD_MUTEX_STALLED)
		return __real_pthread_mutex_init(pthread_mutex, attributes);
	memset(pthread_mutex, 0, sizeof(*pthread_mutex));
	mutex->kind = type;
	mutex->inherits = protocol == PTHREAD_PRIO_INHERIT;
	mutex->ceiling = protocol == PTHREAD_PRIO_PROTECT ? ceiling : 0;
	handle = cobalt_mutex(pthread_mutex);
	return handle < 0 ? -handle : 0;
}

WRAP(int, pthread_mutex_destroy, pthread_mutex_t *pthread_mutex)
{
	struct mutex *mutex = (struct mutex *)pthread_mutex;
	int error = 0;

	if (is_native(mutex))
		return __real_pthread_mutex_destroy(pthread_mutex);
	if (mutex->handle)
		error = -PRIMARY_CALL(DESTROY, mutex->handle, 0, 0, 0);
	if (!error)
		mutex->handle = 0;
	return error;
}

/* Locks a mutex, until a time of a clock. */
static int lock(pthread_mutex_t *mutex, uint64_t clock, int64_t ns)
{
	long handle = cobalt_mutex(mutex);

	return handle < 0 ? -handle : -PRIMARY_CALL(MUTEX_LOCK, handle, clock, ns, 0);
}

int cobalt_mutex_lock(pthread_mutex_t *mutex)
{
	long handle = cobalt_mutex(mutex);

	return handle < 0 ? -handle : -PRIMARY_CALL(MUTEX_LOCK, handle, PILLION_DUAL_SERVICE_FOREVER, 0, 1);
}

WRAP(int, pthread_mutex_lock, pthread_mutex_t *mutex)
{
	if (is_native((struct mutex *)mutex))
		return __real_pthread_mutex_lock(mutex);
	return lock(mutex, PILLION_DUAL_SERVICE_FOREVER, 0);
}

WRAP(int, pthread_mutex_clocklock, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *end)
{
	if (is_native((struct mutex *)mutex))
		return __real_pthread_mutex_clocklock(mutex, clock, end);
	return primary_ns(end) < 0 ? EINVAL : lock(mutex, clock, primary_ns(end));
}

WRAP(int, pthread_mutex_timedlock, pthread_mutex_t *mutex, const struct timespec *end)
{
	return __cobalt_pthread_mutex_clocklock(mutex, CLOCK_REALTIME, end);
}

WRAP(int, pthread_mutex_trylock, pthread_mutex_t *mutex)
{
	if (is_native((struct mutex *)mutex))
		return __real_pthread_mutex_trylock(mutex);
	return lock(mutex, PILLION_DUAL_SERVICE_TRY, 0);
}

WRAP(int, pthread_mutex_unlock, pthread_mutex_t *mutex)
{
	long handle;

	if (is_native((struct mutex *)mutex))
		return __real_pthread_mutex_unlock(mutex);
	handle = cobalt_mutex(mutex);
	return handle < 0 ? -handle : -PRIMARY_CALL(MUTEX_UNLOCK, handle, 0, 0, 0);
}

/* The ceiling of a mutex; 0 sets no other one. Negative: an error. */
static long set_ceiling(pthread_mutex_t *mutex, int ceiling)
{
	long handle = cobalt_mutex(mutex);

	return handle < 0 ? handle : PRIMARY_CALL(MUTEX_CEILING, handle, ceiling, 0, 0);
}

WRAP(int, pthread_mutex_getprioceiling, const pthread_mutex_t *mutex, int *ceiling)
{
	long found;

	if (is_native((const struct mutex *)mutex))
		return __real_pthread_mutex_getprioceiling(mutex, ceiling);
	found = set_ceiling((pthread_mutex_t *)mutex, 0);
	if (found < 0)
		return -found;
	*ceiling = found;
	return 0;
}

/* It does not change under an owner's feet. */
WRAP(int, pthread_mutex_setprioceiling, pthread_mutex_t *mutex, int ceiling, int *old)
{
	long found;
	int error;

	if (is_native((struct mutex *)mutex))
		return __real_pthread_mutex_setprioceiling(mutex, ceiling, old);
	found = set_ceiling(mutex, 0);
	if (found < 0 || ceiling < 1)
		return EINVAL;
	error = cobalt_mutex_lock(mutex);
	if (error)
		return error;
	found = set_ceiling(mutex, ceiling);
	error = __cobalt_pthread_mutex_unlock(mutex);
	if (found < 0)
		return -found;
	if (old)
		*old = found;
	return error;
}
