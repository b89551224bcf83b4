// SPDX-License-Identifier: GPL-2.0-only
/* Condition variables. One that is statically initialised is made when it is first used. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "adopt.h"
#include "debug.h"
#include "internal.h"
#include "mutex.h"
#include "primary/wait.h"

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

/* A time of the condition's own clock. */
#define OWN_CLOCK (-1)

int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *end);
int __real_pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
				  const struct timespec *end);

static int wait_native(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *end)
{
	if (!end)
		return __real_pthread_cond_wait(cond, mutex);
	if (clock == OWN_CLOCK)
		return __real_pthread_cond_timedwait(cond, mutex, end);
	return __real_pthread_cond_clockwait(cond, mutex, clock, end);
}

static int wait_own(pthread_cond_t *pthread_cond, struct primary_mutex *mutex, clockid_t clock, const struct timespec *end)
{
	struct cond *cond = (struct cond *)pthread_cond;
	long handle = handle_of(pthread_cond);

	if (handle < 0)
		return -handle;
	if (!mutex)
		return EINVAL;
	if (!end)
		return -primary_mutex_wait(mutex, handle, PILLION_DUAL_SERVICE_FOREVER, 0);
	return -primary_mutex_wait(mutex, handle, clock == OWN_CLOCK ? cond->clock : clock, primary_ns(end));
}

/* Without an end, it waits for ever. */
static int wait(pthread_cond_t *cond, pthread_mutex_t *pthread_mutex, clockid_t clock, const struct timespec *end)
{
	struct primary_mutex *mutex = cobalt_mutex(pthread_mutex);
	unsigned int given_up;
	int error;

	if (end && primary_ns(end) < 0)
		return EINVAL;
	given_up = cobalt_give_up(1 + (mutex ? mutex->depth : 0));
	error = -primary_may_sleep();
	/* The C library knows its own mutexes. */
	if (!error && is_native(cond))
		error = mutex ? EINVAL : wait_native(cond, pthread_mutex, clock, end);
	else if (!error)
		error = wait_own(cond, mutex, clock, end);
	/* With this error alone, a thread that had the mutex has it no longer. */
	if (error != ENOTRECOVERABLE)
		cobalt_owned += given_up;
	return error;
}

WRAP(int, pthread_cond_wait, pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	return wait(cond, mutex, OWN_CLOCK, NULL);
}

WRAP(int, pthread_cond_clockwait, pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
     const struct timespec *end)
{
	return wait(cond, mutex, clock, end);
}

WRAP(int, pthread_cond_timedwait, pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *end)
{
	return wait(cond, mutex, OWN_CLOCK, end);
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
