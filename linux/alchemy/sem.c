// SPDX-License-Identifier: GPL-2.0-only
#include <alchemy/sem.h>
#include <errno.h>
#include <stdlib.h>

#include "object.h"
#include "primary/lock.h"

struct sem {
	struct alchemy_object object;
	struct primary_queue waiters;
	unsigned long count;
	int mode;
};

static const struct alchemy_kind kind = { "semaphore" };

int rt_sem_create(RT_SEM *sem, const char *name, unsigned long count, int mode)
{
	struct sem *made;
	int error;

	if (mode & ~(S_PRIO | S_PULSE) || (mode & S_PULSE && count))
		return -EINVAL;
	made = malloc(sizeof(*made));
	if (!made)
		return -ENOMEM;
	primary_queue_init(&made->waiters, mode & S_PRIO);
	made->count = count;
	made->mode = mode;
	error = alchemy_add(&made->object, &kind, name, &sem->handle);
	if (error)
		free(made);
	return error;
}

int rt_sem_delete(RT_SEM *sem)
{
	struct sem *found = alchemy_enter(&kind, sem->handle);

	if (!found)
		return -EINVAL;
	primary_wake_all(&found->waiters, -EIDRM);
	alchemy_remove(&found->object);
	free(found);
	return alchemy_leave(0);
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

static int take(RT_SEM *sem, struct primary_end end)
{
	struct sem *found = alchemy_enter(&kind, sem->handle);
	struct primary_wait wait = { .data = found, .give_back = give_back };

	if (!found)
		return -EINVAL;
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

	if (!found)
		return -EINVAL;
	post(found);
	return alchemy_leave(0);
}

int rt_sem_broadcast(RT_SEM *sem)
{
	struct sem *found = alchemy_enter(&kind, sem->handle);

	if (!found)
		return -EINVAL;
	primary_wake_all(&found->waiters, 0);
	return alchemy_leave(0);
}

int rt_sem_inquire(RT_SEM *sem, RT_SEM_INFO *info)
{
	struct sem *found = alchemy_enter(&kind, sem->handle);

	if (!found)
		return -EINVAL;
	info->count = found->count;
	info->nwaiters = primary_count(&found->waiters);
	alchemy_tell_name(&found->object, info->name);
	return alchemy_leave(0);
}

int rt_sem_bind(RT_SEM *sem, const char *name, RTIME timeout)
{
	return alchemy_bind(&kind, name, timeout, &sem->handle);
}

int rt_sem_unbind(RT_SEM *sem)
{
	sem->handle = 0;
	return 0;
}
