// SPDX-License-Identifier: GPL-2.0-only
#include <alchemy/sem.h>
#include <errno.h>
#include <stdlib.h>

#include "object.h"
#include "primary/call.h"
#include "primary/lock.h"
#include "session.h"

struct sem {
	struct alchemy_object object;
	/* The session's semaphore; 0: all else here is that of this one. */
	uint32_t shared;
	struct primary_queue waiters;
	unsigned long count;
	int mode;
	/* Tasks of this process that wait for the session's. */
	unsigned int takers;
};

static const struct alchemy_kind kind = { "semaphore" };

static int make_shared(const char *name, uint32_t shared, uintptr_t *handle)
{
	struct sem *made = calloc(1, sizeof(*made));

	if (made) {
		primary_queue_init(&made->waiters, true);
		made->shared = shared;
	}
	return alchemy_add_made(made, &kind, name, handle);
}

static const struct alchemy_shared_kind session = {
	.kind = &kind, .object = PILLION_DUAL_OBJECT_SEMAPHORE, .make = make_shared
};

int rt_sem_create(RT_SEM *sem, const char *name, unsigned long count, int mode)
{
	struct sem *made;

	if (mode & ~(S_PRIO | S_PULSE) || (mode & S_PULSE && count))
		return -EINVAL;
	if (alchemy_shares(name))
		return mode & S_PULSE ? -EINVAL : alchemy_share(&session, name, count, &sem->handle);
	made = calloc(1, sizeof(*made));
	if (made) {
		primary_queue_init(&made->waiters, mode & S_PRIO);
		made->count = count;
		made->mode = mode;
	}
	return alchemy_add_made(made, &kind, name, &sem->handle);
}

int rt_sem_delete(RT_SEM *sem)
{
	struct sem *found = alchemy_enter(&kind, sem->handle);
	uint32_t shared;
	int error = 0;

	if (!found)
		return -EINVAL;
	if (found->takers)
		return alchemy_leave(-EBUSY);
	primary_wake_all(&found->waiters, -EIDRM);
	alchemy_remove(&found->object);
	shared = found->shared;
	primary_unlock();
	if (shared)
		error = alchemy_unshare(&session, found->object.name.text, shared);
	free(found);
	return error;
}

static void post(struct sem *sem)
{
	struct primary_wait *first = primary_first(&sem->waiters);

	if (first)
		primary_wake(first, 0);
	else if (!(sem->mode & S_PULSE))
		sem->count++;
}

static void give_back(struct primary_wait *wait)
{
	post(wait->data);
}

/* Without the lock; `takers` has been counted. */
static int take_shared(struct sem *sem, struct primary_end end)
{
	int error;

	pthread_cleanup_push(alchemy_uncount, &sem->takers);
	error = primary_take(sem->shared, end);
	pthread_cleanup_pop(1);
	return error;
}

static int take(RT_SEM *sem, struct primary_end end)
{
	struct sem *found = alchemy_enter(&kind, sem->handle);
	struct primary_wait wait = { .data = found, .give_back = give_back };

	if (!found)
		return -EINVAL;
	if (found->shared) {
		found->takers++;
		primary_unlock();
		return take_shared(found, end);
	}
	if (!found->count)
		return alchemy_leave(primary_wait(&found->waiters, &wait, end));
	found->count--;
	return alchemy_leave(0);
}

int rt_sem_p_timed(RT_SEM *sem, const struct timespec *end)
{
	return take(sem, alchemy_at(end));
}

int rt_sem_p_until(RT_SEM *sem, RTIME end)
{
	return take(sem, alchemy_until(end));
}

int rt_sem_p(RT_SEM *sem, RTIME timeout)
{
	return take(sem, alchemy_after(timeout));
}

int rt_sem_v(RT_SEM *sem)
{
	struct sem *found = alchemy_enter(&kind, sem->handle);
	uint32_t shared;

	if (!found)
		return -EINVAL;
	shared = found->shared;
	if (!shared)
		post(found);
	primary_unlock();
	return shared ? PRIMARY_CALL(SEMAPHORE_POST, shared, 0, 0, 0) : 0;
}

int rt_sem_broadcast(RT_SEM *sem)
{
	struct sem *found = alchemy_enter(&kind, sem->handle);

	if (!found)
		return -EINVAL;
	if (found->shared)
		return alchemy_leave(-EOPNOTSUPP);
	primary_wake_all(&found->waiters, 0);
	return alchemy_leave(0);
}

int rt_sem_inquire(RT_SEM *sem, RT_SEM_INFO *info)
{
	struct sem *found = alchemy_enter(&kind, sem->handle);

	if (!found)
		return -EINVAL;
	info->count = found->shared ? PRIMARY_CALL(SEMAPHORE_VALUE, found->shared, 0, 0, 0) : (long)found->count;
	info->nwaiters = primary_count(&found->waiters) + found->takers;
	alchemy_tell_name(&found->object, info->name);
	return alchemy_leave(0);
}

int rt_sem_bind(RT_SEM *sem, const char *name, RTIME timeout)
{
	return alchemy_bind_shared(&session, name, timeout, &sem->handle);
}

int rt_sem_unbind(RT_SEM *sem)
{
	sem->handle = 0;
	return 0;
}
