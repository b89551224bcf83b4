// SPDX-License-Identifier: GPL-2.0-only
#include "mutexes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cobalt/adopt.h"
#include "primary/call.h"
#include "primary/lock.h"
#include "session.h"
#include "tasks.h"

const struct alchemy_kind alchemy_mutexes = { "mutex" };

static int make_shared(const char *name, uint32_t shared, uintptr_t *handle)
{
	struct mutex *made = calloc(1, sizeof(*made));

	if (made) {
		made->shared = shared;
		cobalt_mutex_adopt(&made->mutex, shared);
	}
	return alchemy_add_made(made, &alchemy_mutexes, name, handle);
}

static const struct alchemy_shared_kind session = {
	.kind = &alchemy_mutexes, .object = PILLION_DUAL_OBJECT_MUTEX,
	.flags = PILLION_DUAL_OBJECT_INHERIT | PILLION_DUAL_OBJECT_CHECKED, .make = make_shared
};

int rt_mutex_create(RT_MUTEX *mutex, const char *name)
{
	pthread_mutexattr_t attributes;
	struct mutex *made;
	int error;

	if (alchemy_shares(name))
		return alchemy_share(&session, name, 0, &mutex->handle);
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	pthread_mutexattr_init(&attributes);
	/* How often its owner locked it is counted here. */
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	/* Primary mode takes it from an owner that ends anyway. */
	if (!primary_is_there())
		pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	error = -__RT(pthread_mutex_init(&made->mutex, &attributes));
	if (!error) {
		error = alchemy_add(&made->object, &alchemy_mutexes, name, &mutex->handle);
		if (error)
			__RT(pthread_mutex_destroy(&made->mutex));
	}
	if (error)
		free(made);
	return error;
}

/* The mutex of a handle, without the lock; NULL: there is none. */
static struct mutex *find(RT_MUTEX *mutex)
{
	struct mutex *found = alchemy_enter(&alchemy_mutexes, mutex->handle);

	if (found)
		primary_unlock();
	return found;
}

/* Linux would destroy a robust one although somebody has it. */
static int destroy(struct mutex *mutex)
{
	int error = alchemy_owner_died(mutex, __RT(pthread_mutex_trylock(&mutex->mutex)));

	if (!error) {
		__RT(pthread_mutex_unlock(&mutex->mutex));
		error = __RT(pthread_mutex_destroy(&mutex->mutex));
	}
	return -error;
}

int rt_mutex_delete(RT_MUTEX *mutex)
{
	struct mutex *found = find(mutex);
	int error;

	if (!found)
		return -EINVAL;
	error = found->shared ? alchemy_unshare(&session, found->object.name.text, found->shared) : destroy(found);
	/* Whoever may not remove the name has closed the mutex all the same. */
	if (error && (!found->shared || error == -EBUSY))
		return error;
	primary_lock();
	alchemy_remove(&found->object);
	primary_unlock();
	free(found);
	return error;
}

static int do_lock(struct mutex *mutex, struct primary_end end)
{
	struct timespec time = primary_timespec(end.ns);

	if (end.clock == PRIMARY_AT_ONCE)
		return __RT(pthread_mutex_trylock(&mutex->mutex));
	if (end.clock == PRIMARY_NEVER)
		return __RT(pthread_mutex_lock(&mutex->mutex));
	return __RT(pthread_mutex_clocklock(&mutex->mutex, end.clock, &time));
}

static int acquire(RT_MUTEX *mutex, struct primary_end end)
{
	struct mutex *found = find(mutex);
	RT_TASK *self = rt_task_self();
	int error;

	if (!found)
		return -EINVAL;
	if (alchemy_owns(found)) {
		found->depth++;
		return 0;
	}
	error = alchemy_owner_died(found, do_lock(found, end));
	if (error)
		return error == EBUSY ? -EWOULDBLOCK : -error;
	found->owner.handle = self ? self->handle : 0;
	found->owner.thread = pthread_self();
	found->owner_tid = primary_self()->tid;
	found->depth = 1;
	return 0;
}

int rt_mutex_acquire_timed(RT_MUTEX *mutex, const struct timespec *end)
{
	return acquire(mutex, alchemy_at(end));
}

int rt_mutex_acquire_until(RT_MUTEX *mutex, RTIME end)
{
	return acquire(mutex, alchemy_until(end));
}

int rt_mutex_acquire(RT_MUTEX *mutex, RTIME timeout)
{
	return acquire(mutex, alchemy_after(timeout));
}

int rt_mutex_release(RT_MUTEX *mutex)
{
	struct mutex *found = find(mutex);

	if (!found)
		return -EINVAL;
	if (!alchemy_owns(found))
		return -EPERM;
	return --found->depth ? 0 : -__RT(pthread_mutex_unlock(&found->mutex));
}

int rt_mutex_inquire(RT_MUTEX *mutex, RT_MUTEX_INFO *info)
{
	struct mutex *found = alchemy_enter(&alchemy_mutexes, mutex->handle);

	if (!found)
		return -EINVAL;
	memset(&info->owner, 0, sizeof(info->owner));
	if (found->depth && (!found->owner.handle || alchemy_find(&alchemy_tasks, found->owner.handle)))
		info->owner = found->owner;
	alchemy_tell_name(&found->object, info->name);
	return alchemy_leave(0);
}

int rt_mutex_bind(RT_MUTEX *mutex, const char *name, RTIME timeout)
{
	return alchemy_bind_shared(&session, name, timeout, &mutex->handle);
}

int rt_mutex_unbind(RT_MUTEX *mutex)
{
	mutex->handle = 0;
	return 0;
}
