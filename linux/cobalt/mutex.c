// SPDX-License-Identifier: GPL-2.0-only
/* Mutexes. One that is statically initialised is made when a thread first has to wait for it. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "adopt.h"
#include "debug.h"
#include "internal.h"
#include "mutex.h"

/* Bits of a kind of the C library's that primary mode does not have. */
#define OTHER_KINDS (~3)

/* The kind of a mutex that is none any more, here and in the C library. */
#define DESTROYED (-1)

struct primary_mutex *cobalt_mutex(const pthread_mutex_t *mutex)
{
	struct primary_mutex *own = (struct primary_mutex *)mutex;

	return primary_is_there() && !(own->kind & OTHER_KINDS) ? own : NULL;
}

WRAP(int, pthread_mutex_init, pthread_mutex_t *pthread_mutex, const pthread_mutexattr_t *attributes)
{
	int type = PTHREAD_MUTEX_NORMAL, protocol = PTHREAD_PRIO_NONE, shared = 0, robust = 0, ceiling = 0;
	struct primary_mutex *mutex = (struct primary_mutex *)pthread_mutex;

	if (attributes) {
		pthread_mutexattr_gettype(attributes, &type);
		pthread_mutexattr_getprotocol(attributes, &protocol);
		pthread_mutexattr_getpshared(attributes, &shared);
		pthread_mutexattr_getrobust(attributes, &robust);
		pthread_mutexattr_getprioceiling(attributes, &ceiling);
	}
	if (mutex->handle && mutex->home == primary_home(mutex) && cobalt_mutex(pthread_mutex))
		return EBUSY;
	if (!primary_is_there() || shared != PTHREAD_PROCESS_PRIVATE)
		return __real_pthread_mutex_init(pthread_mutex, attributes);
	memset(pthread_mutex, 0, sizeof(*pthread_mutex));
	mutex->kind = type;
	mutex->inherits = protocol == PTHREAD_PRIO_INHERIT;
	mutex->is_robust = robust == PTHREAD_MUTEX_ROBUST;
	mutex->ceiling = protocol == PTHREAD_PRIO_PROTECT ? ceiling : 0;
	return -primary_mutex_make(mutex);
}

void cobalt_mutex_adopt(pthread_mutex_t *pthread_mutex, uint32_t handle)
{
	memset(pthread_mutex, 0, sizeof(*pthread_mutex));
	primary_mutex_share((struct primary_mutex *)pthread_mutex, handle);
}

WRAP(int, pthread_mutex_destroy, pthread_mutex_t *pthread_mutex)
{
	struct primary_mutex *mutex = (struct primary_mutex *)pthread_mutex;
	int error;

	if (mutex->kind == DESTROYED)
		return EINVAL;
	if (!cobalt_mutex(pthread_mutex))
		return __real_pthread_mutex_destroy(pthread_mutex);
	error = -primary_mutex_destroy(mutex, false);
	if (!error)
		*mutex = (struct primary_mutex){ .kind = DESTROYED };
	return error;
}

WRAP(int, pthread_mutex_trylock, pthread_mutex_t *pthread_mutex)
{
	struct primary_mutex *mutex = cobalt_mutex(pthread_mutex);

	if (!mutex)
		return cobalt_locked(__real_pthread_mutex_trylock(pthread_mutex));
	return cobalt_locked(-primary_mutex_lock(mutex, PILLION_DUAL_SERVICE_TRY, 0));
}

/* A thread that would break its lock of the scheduler is told first. EBUSY: it may wait. */
static int lock_at_once(pthread_mutex_t *pthread_mutex)
{
	int error = __cobalt_pthread_mutex_trylock(pthread_mutex);

	if (error == EBUSY)
		cobalt_breaks_lock();
	return error;
}

WRAP(int, pthread_mutex_lock, pthread_mutex_t *pthread_mutex)
{
	struct primary_mutex *mutex = cobalt_mutex(pthread_mutex);
	int error = cobalt_keeps_lock() ? lock_at_once(pthread_mutex) : EBUSY;

	if (error != EBUSY)
		return error;
	if (!mutex)
		return cobalt_locked(__real_pthread_mutex_lock(pthread_mutex));
	return cobalt_locked(-primary_mutex_lock(mutex, PILLION_DUAL_SERVICE_FOREVER, 0));
}

WRAP(int, pthread_mutex_clocklock, pthread_mutex_t *pthread_mutex, clockid_t clock, const struct timespec *end)
{
	struct primary_mutex *mutex = cobalt_mutex(pthread_mutex);
	int error = cobalt_keeps_lock() ? lock_at_once(pthread_mutex) : EBUSY;

	if (error != EBUSY)
		return error;
	if (!mutex)
		return cobalt_locked(__real_pthread_mutex_clocklock(pthread_mutex, clock, end));
	return primary_ns(end) < 0 ? EINVAL : cobalt_locked(-primary_mutex_lock(mutex, clock, primary_ns(end)));
}

WRAP(int, pthread_mutex_timedlock, pthread_mutex_t *mutex, const struct timespec *end)
{
	return __cobalt_pthread_mutex_clocklock(mutex, CLOCK_REALTIME, end);
}

WRAP(int, pthread_mutex_unlock, pthread_mutex_t *pthread_mutex)
{
	struct primary_mutex *mutex = cobalt_mutex(pthread_mutex);

	return cobalt_unlocked(mutex ? -primary_mutex_unlock(mutex) : __real_pthread_mutex_unlock(pthread_mutex));
}

WRAP(int, pthread_mutex_consistent, pthread_mutex_t *pthread_mutex)
{
	struct primary_mutex *mutex = cobalt_mutex(pthread_mutex);

	return mutex ? -primary_mutex_consistent(mutex) : __real_pthread_mutex_consistent(pthread_mutex);
}

WRAP(int, pthread_mutex_getprioceiling, const pthread_mutex_t *pthread_mutex, int *ceiling)
{
	struct primary_mutex *mutex = cobalt_mutex(pthread_mutex);
	int found;

	if (!mutex)
		return __real_pthread_mutex_getprioceiling(pthread_mutex, ceiling);
	found = primary_mutex_ceiling(mutex, 0);
	if (found < 0)
		return -found;
	*ceiling = found;
	return 0;
}

/* It does not change under an owner's feet. */
WRAP(int, pthread_mutex_setprioceiling, pthread_mutex_t *pthread_mutex, int ceiling, int *old)
{
	struct primary_mutex *mutex = cobalt_mutex(pthread_mutex);
	int error, found;

	if (!mutex)
		return __real_pthread_mutex_setprioceiling(pthread_mutex, ceiling, old);
	if (!mutex->ceiling || ceiling < 1)
		return EINVAL;
	error = primary_mutex_lock_above(mutex);
	if (error)
		return -error;
	found = primary_mutex_ceiling(mutex, ceiling);
	error = primary_mutex_unlock(mutex);
	if (found < 0)
		return -found;
	if (old)
		*old = found;
	return -error;
}
