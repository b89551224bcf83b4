// SPDX-License-Identifier: GPL-2.0-only
#include <alchemy/cond.h>
#include <errno.h>
#include <stdlib.h>

#include "cobalt/adopt.h"
#include "mutexes.h"
#include "object.h"
#include "primary/call.h"
#include "primary/lock.h"
#include "session.h"
#include "tasks.h"

struct cond {
	struct alchemy_object object;
	/* The session's condition, which `cond` has; 0: it is this process's. */
	uint32_t shared;
	pthread_cond_t cond;
	/* Tasks that wait: the C library would wait for them when its condition is destroyed. */
	unsigned int waiters;
};

static const struct alchemy_kind kind = { "condition variable" };

static int make_shared(const char *name, uint32_t shared, uintptr_t *handle)
{
	struct cond *made = calloc(1, sizeof(*made));

	if (made) {
		made->shared = shared;
		cobalt_cond_adopt(&made->cond, shared);
	}
	return alchemy_add_made(made, &kind, name, handle);
}

static const struct alchemy_shared_kind session = {
	.kind = &kind, .object = PILLION_DUAL_OBJECT_CONDITION, .make = make_shared
};

int rt_cond_create(RT_COND *cond, const char *name)
{
	struct cond *made;
	int error;

	if (alchemy_shares(name))
		return alchemy_share(&session, name, 0, &cond->handle);
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	error = -__RT(pthread_cond_init(&made->cond, NULL));
	if (!error) {
		error = alchemy_add(&made->object, &kind, name, &cond->handle);
		if (error)
			__RT(pthread_cond_destroy(&made->cond));
	}
	if (error)
		free(made);
	return error;
}

/* The condition of a handle, without the lock; NULL: there is none. */
static struct cond *find(RT_COND *cond)
{
	struct cond *found = alchemy_enter(&kind, cond->handle);

	if (found)
		primary_unlock();
	return found;
}

int rt_cond_delete(RT_COND *cond)
{
	struct cond *found = alchemy_enter(&kind, cond->handle);
	int error = 0;

	if (!found)
		return -EINVAL;
	if (found->waiters)
		return alchemy_leave(-EBUSY);
	alchemy_remove(&found->object);
	primary_unlock();
	if (found->shared)
		error = alchemy_unshare(&session, found->object.name.text, found->shared);
	else
		__RT(pthread_cond_destroy(&found->cond));
	free(found);
	return error;
}

int rt_cond_signal(RT_COND *cond)
{
	struct cond *found = find(cond);

	return found ? -__RT(pthread_cond_signal(&found->cond)) : -EINVAL;
}

int rt_cond_broadcast(RT_COND *cond)
{
	struct cond *found = find(cond);

	return found ? -__RT(pthread_cond_broadcast(&found->cond)) : -EINVAL;
}

/* The calling task waits for a condition; `waiters` is counted. */
static void begins(struct cond *cond)
{
	struct task *self = alchemy_self();

	cond->waiters++;
	if (!self)
		return;
	self->awaited = &cond->cond;
	self->is_unblocked = false;
}

static void ends(void *ended)
{
	struct task *self = alchemy_self();
	struct cond *cond = ended;

	primary_lock();
	cond->waiters--;
	if (self)
		self->awaited = NULL;
	primary_unlock();
}

/* The result of a wait. One that was ended leaves to others what may have been signalled. */
static int result_of(struct cond *cond, int error)
{
	struct task *self = alchemy_self();
	bool is_unblocked;

	primary_lock();
	is_unblocked = self && self->is_unblocked;
	primary_unlock();
	if (error || !is_unblocked)
		return error;
	__RT(pthread_cond_signal(&cond->cond));
	return EINTR;
}

/* The mutex is not the caller's meanwhile. */
static int wait_for(struct cond *cond, struct mutex *mutex, struct primary_end end)
{
	struct timespec time = primary_timespec(end.ns);
	const struct mutex before = *mutex;
	int error;

	mutex->depth = 0;
	pthread_cleanup_push(ends, cond);
	if (end.clock == PRIMARY_NEVER)
		error = __RT(pthread_cond_wait(&cond->cond, &mutex->mutex));
	else
		error = __RT(pthread_cond_clockwait(&cond->cond, &mutex->mutex, end.clock, &time));
	error = result_of(cond, error);
	pthread_cleanup_pop(1);
	mutex->owner = before.owner;
	mutex->owner_tid = before.owner_tid;
	mutex->depth = before.depth;
	return -alchemy_owner_died(mutex, error);
}

static int do_wait(RT_COND *cond, RT_MUTEX *mutex, struct primary_end end)
{
	struct mutex *lock = alchemy_enter(&alchemy_mutexes, mutex->handle);
	struct cond *found;

	if (!lock)
		return -EINVAL;
	found = alchemy_find(&kind, cond->handle);
	if (!found)
		return alchemy_leave(-EINVAL);
	if (!alchemy_owns(lock))
		return alchemy_leave(-EPERM);
	if (end.clock == PRIMARY_AT_ONCE)
		return alchemy_leave(-EWOULDBLOCK);
	begins(found);
	primary_unlock();
	return wait_for(found, lock, end);
}

int rt_cond_wait_timed(RT_COND *cond, RT_MUTEX *mutex, const struct timespec *end)
{
	return do_wait(cond, mutex, alchemy_at(end));
}

int rt_cond_wait_until(RT_COND *cond, RT_MUTEX *mutex, RTIME end)
{
	return do_wait(cond, mutex, alchemy_until(end));
}

int rt_cond_wait(RT_COND *cond, RT_MUTEX *mutex, RTIME timeout)
{
	return do_wait(cond, mutex, alchemy_after(timeout));
}

int rt_cond_inquire(RT_COND *cond, RT_COND_INFO *info)
{
	struct cond *found = alchemy_enter(&kind, cond->handle);

	if (!found)
		return -EINVAL;
	alchemy_tell_name(&found->object, info->name);
	return alchemy_leave(0);
}

int rt_cond_bind(RT_COND *cond, const char *name, RTIME timeout)
{
	return alchemy_bind_shared(&session, name, timeout, &cond->handle);
}

int rt_cond_unbind(RT_COND *cond)
{
	cond->handle = 0;
	return 0;
}
