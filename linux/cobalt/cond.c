// SPDX-License-Identifier: GPL-2.0-only
/* Condition variables. One that is statically initialised is made when it is first used. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "adopt.h"
#include "internal.h"
#include "mutex.h"

struct cond {
	uint32_t handle;
	clockid_t clock;
	/* Where it was made: a copy is none. DESTROYED: it is none any more. */
	uintptr_t home;
	uint32_t unused[5];
	/* Where the C library has it; bit 0: the condition is shared between processes. */
	uint32_t references;
};

_Static_assert(sizeof(struct cond) <= sizeof(pthread_cond_t), "a condition has room for one");
_Static_assert(offsetof(struct cond, references) == offsetof(pthread_cond_t, __data.__wrefs), "the bit's place");

#define DESTROYED (~(uintptr_t)0)

static bool is_native(const pthread_cond_t *cond)
{
	return !primary_is_there() || ((const struct cond *)cond)->references & 1;
}

/* The handle of a condition; negative: there is none, and this is the error. */
static long handle_of(pthread_cond_t *pthread_cond)
{
	struct cond *cond = (struct cond *)pthread_cond;
	uintptr_t home = primary_home(cond);
	int error;

	if (cond->home == DESTROYED)
		return -EINVAL;
	if (cond->home != home)
		cond->handle = 0;
	error = primary_make(&cond->handle, PILLION_DUAL_OBJECT_CONDITION, 0, 0, NULL);
	cond->home = home;
	return error ? -error : (long)cond->handle;
}

WRAP(int, pthread_cond_init, pthread_cond_t *pthread_cond, const pthread_condattr_t *attributes)
{
	struct cond *cond = (struct cond *)pthread_cond;
	clockid_t clock = CLOCK_REALTIME;
	int shared = PTHREAD_PROCESS_PRIVATE;
	long handle;

	if (attributes) {
		pthread_condattr_getclock(attributes, &clock);
		pthread_condattr_getpshared(attributes, &shared);
	}
	if (cond->handle && cond->home == primary_home(cond) && !is_native(pthread_cond))
		return EBUSY;
	if (!primary_is_there() || shared != PTHREAD_PROCESS_PRIVATE)
		return __real_pthread_cond_init(pthread_cond, attributes);
	memset(pthread_cond, 0, sizeof(*pthread_cond));
	cond->clock = clock;
	handle = handle_of(pthread_cond);
	return handle < 0 ? -handle : 0;
}

void cobalt_cond_adopt(pthread_cond_t *pthread_cond, uint32_t handle)
{
	struct cond *cond = (struct cond *)pthread_cond;

	memset(pthread_cond, 0, sizeof(*pthread_cond));
	*cond = (struct cond){ .handle = handle, .home = primary_home(cond) };
}

WRAP(int, pthread_cond_destroy, pthread_cond_t *pthread_cond)
{
	struct cond *cond = (struct cond *)pthread_cond;
	int error = 0;

	if (is_native(pthread_cond))
		return __real_pthread_cond_destroy(pthread_cond);
	if (cond->home == DESTROYED)
		return EINVAL;
	if (cond->handle)
		error = -PRIMARY_CALL(DESTROY, cond->handle, 0, 0, 0);
	if (!error)
		*cond = (struct cond){ .home = DESTROYED };
	return error;
}

static int wait(pthread_cond_t *cond, pthread_mutex_t *pthread_mutex, uint64_t clock, int64_t ns)
{
	struct primary_mutex *mutex = cobalt_mutex(pthread_mutex);
	long handle = handle_of(cond);

	if (handle < 0)
		return -handle;
	return mutex ? -primary_mutex_wait(mutex, handle, clock, ns) : EINVAL;
}

WRAP(int, pthread_cond_wait, pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	if (is_native(cond))
		return __real_pthread_cond_wait(cond, mutex);
	return wait(cond, mutex, PILLION_DUAL_SERVICE_FOREVER, 0);
}

WRAP(int, pthread_cond_clockwait, pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
     const struct timespec *end)
{
	if (is_native(cond))
		return __real_pthread_cond_clockwait(cond, mutex, clock, end);
	return primary_ns(end) < 0 ? EINVAL : wait(cond, mutex, clock, primary_ns(end));
}

WRAP(int, pthread_cond_timedwait, pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *end)
{
	if (is_native(cond))
		return __real_pthread_cond_timedwait(cond, mutex, end);
	return primary_ns(end) < 0 ? EINVAL : wait(cond, mutex, ((struct cond *)cond)->clock, primary_ns(end));
}

static int wake(pthread_cond_t *cond, bool all)
{
	long handle = handle_of(cond);

	return handle < 0 ? -handle : -PRIMARY_CALL(CONDITION_WAKE, handle, all, 0, 0);
}

WRAP(int, pthread_cond_signal, pthread_cond_t *cond)
{
	return is_native(cond) ? __real_pthread_cond_signal(cond) : wake(cond, false);
}

WRAP(int, pthread_cond_broadcast, pthread_cond_t *cond)
{
	return is_native(cond) ? __real_pthread_cond_broadcast(cond) : wake(cond, true);
}
