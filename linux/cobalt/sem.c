// SPDX-License-Identifier: GPL-2.0-only
/* Semaphores. Those with names, and those that processes share, are the C library's. */
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct semaphore {
	/* The C library's value, and more. */
	uint64_t unused[2];
	uint32_t mark;
	uint32_t handle;
};

_Static_assert(sizeof(struct semaphore) <= sizeof(sem_t), "a semaphore has room for one");

static bool is_ours(const sem_t *sem)
{
	return ((const struct semaphore *)sem)->mark == OURS;
}

static uint32_t handle_of(const sem_t *sem)
{
	return ((const struct semaphore *)sem)->handle;
}

/* The result as the program sees it. */
static int told(long result)
{
	if (result >= 0)
		return 0;
	errno = -result;
	return -1;
}

WRAP(int, sem_init, sem_t *sem, int is_shared, unsigned int value)
{
	struct semaphore *semaphore = (struct semaphore *)sem;
	int error;

	memset(sem, 0, sizeof(*sem));
	if (!cobalt_is_there() || is_shared)
		return __real_sem_init(sem, is_shared, value);
	error = cobalt_make(&semaphore->handle, PILLION_DUAL_OBJECT_SEMAPHORE, value, 0);
	if (!error)
		semaphore->mark = OURS;
	return told(-error);
}

WRAP(int, sem_destroy, sem_t *sem)
{
	long result;

	if (!is_ours(sem))
		return __real_sem_destroy(sem);
	result = COBALT_CALL(DESTROY, handle_of(sem), 1, 0, 0);
	if (!result)
		memset(sem, 0, sizeof(*sem));
	return told(result);
}

WRAP(int, sem_post, sem_t *sem)
{
	if (!is_ours(sem))
		return __real_sem_post(sem);
	return told(COBALT_CALL(SEMAPHORE_POST, handle_of(sem), 0, 0, 0));
}

int sem_broadcast_np(sem_t *sem)
{
	if (!is_ours(sem))
		return told(-EINVAL);
	return told(COBALT_CALL(SEMAPHORE_POST, handle_of(sem), 1, 0, 0));
}

static int take(sem_t *sem, uint64_t clock, int64_t ns)
{
	long result = COBALT_CALL(SEMAPHORE_WAIT, handle_of(sem), clock, ns, 0);

	/* It was destroyed meanwhile. */
	return told(result == -EIDRM ? -EINVAL : result);
}

WRAP(int, sem_wait, sem_t *sem)
{
	return is_ours(sem) ? take(sem, PILLION_DUAL_SERVICE_FOREVER, 0) : __real_sem_wait(sem);
}

WRAP(int, sem_timedwait, sem_t *sem, const struct timespec *end)
{
	if (!is_ours(sem))
		return __real_sem_timedwait(sem, end);
	return cobalt_ns(end) < 0 ? told(-EINVAL) : take(sem, CLOCK_REALTIME, cobalt_ns(end));
}

WRAP(int, sem_trywait, sem_t *sem)
{
	return is_ours(sem) ? take(sem, PILLION_DUAL_SERVICE_TRY, 0) : __real_sem_trywait(sem);
}

WRAP(int, sem_getvalue, sem_t *sem, int *value)
{
	long result;

	if (!is_ours(sem))
		return __real_sem_getvalue(sem, value);
	result = COBALT_CALL(SEMAPHORE_VALUE, handle_of(sem), 0, 0, 0);
	if (result >= 0)
		*value = result;
	return told(result);
}
