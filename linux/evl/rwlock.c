// SPDX-License-Identifier: GPL-2.0-only
/* Locks for readers and writers, in the order of their priorities. Owners inherit nothing. */
#include <errno.h>
#include <evl/evl.h>
#include <stdlib.h>

#include "object.h"
#include "primary/lock.h"
#include "threads.h"

struct rwlock {
	struct evl_object object;
	struct primary_queue waiters;
	unsigned int readers;
	pid_t writer;
};

/* What a thread waits for. */
struct wish {
	struct rwlock *lock;
	bool writes;
	pid_t tid;
};

static struct rwlock *rwlock_of(struct evl_object *object)
{
	return holder_of(object, struct rwlock, object);
}

static void closes(struct evl_object *object)
{
	primary_wake_all(&rwlock_of(object)->waiters, -EIDRM);
}

static void ends(struct evl_object *object)
{
	free(rwlock_of(object));
}

static int make(struct rwlock **made, int clockfd, int flags)
{
	struct rwlock *lock;
	clockid_t clock;

	if (!evl_clock(clockfd, &clock) || flags & ~EVL_CLONE_MASK)
		return -EINVAL;
	evl_init();
	lock = calloc(1, sizeof(*lock));
	if (!lock)
		return -ENOMEM;
	lock->object.clock = clock;
	primary_queue_init(&lock->waiters, true);
	*made = lock;
	return 0;
}

static int make_static(struct evl_element *element);

static const struct evl_kind rwlocks = { .closes = closes, .ends = ends, .make = make_static };

static int make_static(struct evl_element *element)
{
	struct rwlock *made;
	int result = make(&made, element->clockfd, element->flags);

	if (result)
		return result;
	result = evl_give_static(element, &made->object, &rwlocks);
	if (result < 0)
		free(made);
	return result;
}

int evl_create_rwlock(struct evl_rwlock *rwlock, int clockfd, int flags, const char *format, ...)
{
	struct rwlock *made;
	va_list arguments;
	int result = make(&made, clockfd, flags);

	if (result)
		return result;
	va_start(arguments, format);
	result = evl_give(&rwlock->element, &made->object, &rwlocks, flags, format, arguments);
	va_end(arguments);
	if (result < 0)
		free(made);
	return result;
}

int evl_open_rwlock(struct evl_rwlock *rwlock, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = evl_open(&rwlock->element, &rwlocks, format, arguments);
	va_end(arguments);
	return result;
}

/* Whether nobody has the lock whom this one excludes; then it has it. */
static bool enters(const struct wish *wish)
{
	struct rwlock *lock = wish->lock;

	if (lock->writer || (wish->writes && lock->readers))
		return false;
	if (wish->writes)
		lock->writer = wish->tid;
	else
		lock->readers++;
	return true;
}

/* Those in front that may have it get it; who may not keeps the others from it. */
static void wake(struct rwlock *lock)
{
	struct primary_wait *first;

	while ((first = primary_first(&lock->waiters)) && enters(first->data))
		primary_wake(first, 0);
}

static void leave(struct rwlock *lock, bool writes)
{
	if (writes)
		lock->writer = 0;
	else
		lock->readers--;
	wake(lock);
}

static void give_back(struct primary_wait *wait)
{
	const struct wish *wish = wait->data;

	leave(wish->lock, wish->writes);
}

/* A thread does not go before one that waits already, unless it is more urgent. */
static bool is_next(const struct rwlock *lock)
{
	const struct primary_wait *first = primary_first(&lock->waiters);

	return !first || first->thread->priority < primary_self()->priority;
}

static int wait_for(struct rwlock *lock, struct wish *wish, struct primary_end end)
{
	struct primary_wait wait = { .data = wish, .give_back = give_back };
	int error;

	wish->lock = lock;
	if (is_next(lock) && enters(wish))
		return 0;
	if (lock->writer == wish->tid)
		return -EDEADLK;
	error = evl_wait(&lock->object, &lock->waiters, &wait, end);
	/* Others may have waited behind this one only. */
	if (error)
		wake(lock);
	return error == -EAGAIN ? -EBUSY : error;
}

static int lock(struct evl_rwlock *rwlock, bool writes, const struct timespec *timeout, bool waits)
{
	struct wish wish = { .writes = writes, .tid = primary_tid() };
	struct primary_end end = PRIMARY_TRY;
	struct rwlock *found;

	if (!evl_current)
		return -EPERM;
	found = evl_enter(&rwlock->element, &rwlocks);
	if (!found)
		return -EINVAL;
	if (waits && !evl_end(&found->object, timeout, &end))
		return evl_leave(found, -EINVAL);
	return evl_leave(found, wait_for(found, &wish, end));
}

static int unlock(struct evl_rwlock *rwlock, bool writes)
{
	struct rwlock *found = evl_enter(&rwlock->element, &rwlocks);
	bool has;

	if (!found)
		return -EINVAL;
	has = writes ? found->writer == (pid_t)primary_tid() : found->readers;
	if (has)
		leave(found, writes);
	return evl_leave(found, has ? 0 : -EPERM);
}

int evl_lock_read(struct evl_rwlock *rwlock)
{
	return lock(rwlock, false, NULL, true);
}

int evl_timedlock_read(struct evl_rwlock *rwlock, const struct timespec *timeout)
{
	return lock(rwlock, false, timeout, true);
}

int evl_trylock_read(struct evl_rwlock *rwlock)
{
	return lock(rwlock, false, NULL, false);
}

int evl_unlock_read(struct evl_rwlock *rwlock)
{
	return unlock(rwlock, false);
}

int evl_lock_write(struct evl_rwlock *rwlock)
{
	return lock(rwlock, true, NULL, true);
}

int evl_timedlock_write(struct evl_rwlock *rwlock, const struct timespec *timeout)
{
	return lock(rwlock, true, timeout, true);
}

int evl_trylock_write(struct evl_rwlock *rwlock)
{
	return lock(rwlock, true, NULL, false);
}

int evl_unlock_write(struct evl_rwlock *rwlock)
{
	return unlock(rwlock, true);
}

int evl_close_rwlock(struct evl_rwlock *rwlock)
{
	return evl_close(&rwlock->element, &rwlocks);
}
