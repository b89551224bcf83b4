// SPDX-License-Identifier: GPL-2.0-only
#include <alchemy/event.h>
#include <errno.h>
#include <stdlib.h>

#include "object.h"
#include "primary/call.h"
#include "primary/lock.h"
#include "session.h"

struct event {
	struct alchemy_object object;
	/* The session's flags, and tasks of this process that wait for them; 0: they are here. */
	uint32_t shared;
	unsigned int users;
	struct primary_queue waiters;
	unsigned int value;
};

/* What a task waits for. */
struct wish {
	const struct event *event;
	unsigned int mask;
	bool any;
};

static const struct alchemy_kind kind = { "event group" };

static int make_shared(const char *name, uint32_t shared, uintptr_t *handle)
{
	struct event *made = calloc(1, sizeof(*made));

	if (made) {
		primary_queue_init(&made->waiters, true);
		made->shared = shared;
	}
	return alchemy_add_made(made, &kind, name, handle);
}

static const struct alchemy_shared_kind session = {
	.kind = &kind, .object = PILLION_DUAL_OBJECT_FLAGS, .make = make_shared
};

int rt_event_create(RT_EVENT *event, const char *name, unsigned int value, int mode)
{
	struct event *made;

	if (mode & ~EV_PRIO)
		return -EINVAL;
	if (alchemy_shares(name))
		return alchemy_share(&session, name, value, &event->handle);
	made = calloc(1, sizeof(*made));
	if (made) {
		primary_queue_init(&made->waiters, mode & EV_PRIO);
		made->value = value;
	}
	return alchemy_add_made(made, &kind, name, &event->handle);
}

int rt_event_delete(RT_EVENT *event)
{
	struct event *found = alchemy_enter(&kind, event->handle);
	uint32_t shared;
	int error = 0;

	if (!found)
		return -EINVAL;
	if (found->users)
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

/* Whether a task has what it waits for; it is told the flags that are set. */
static bool has_enough(struct primary_wait *wait)
{
	const struct wish *wish = wait->data;

	wait->value = wish->event->value & wish->mask;
	return wish->any ? wait->value : wait->value == wish->mask;
}

int rt_event_signal(RT_EVENT *event, unsigned int mask)
{
	struct event *found = alchemy_enter(&kind, event->handle);

	if (!found)
		return -EINVAL;
	if (found->shared)
		return alchemy_leave(PRIMARY_CALL(FLAGS_SET, found->shared, mask, 0, 0));
	found->value |= mask;
	primary_wake_some(&found->waiters, has_enough);
	return alchemy_leave(0);
}

int rt_event_clear(RT_EVENT *event, unsigned int mask, unsigned int *before)
{
	struct event *found = alchemy_enter(&kind, event->handle);
	long value;

	if (!found)
		return -EINVAL;
	value = found->shared ? PRIMARY_CALL(FLAGS_CLEAR, found->shared, mask, 0, 0) : (long)found->value;
	if (value < 0)
		return alchemy_leave(value);
	if (before)
		*before = value;
	found->value &= ~mask;
	return alchemy_leave(0);
}

/* Waits for the session's flags, without the lock; `users` has been counted. */
static long wait_shared(struct event *event, uint64_t mask, bool any, struct primary_end end)
{
	uint64_t wanted = mask | (any ? PILLION_DUAL_SERVICE_ANY : 0);
	long result;

	pthread_cleanup_push(alchemy_uncount, &event->users);
	if (mask)
		result = primary_take_flags(event->shared, wanted, end);
	else
		result = PRIMARY_CALL(FLAGS_CLEAR, event->shared, 0, 0, 0);
	pthread_cleanup_pop(1);
	return result;
}

static int wait_for(RT_EVENT *event, unsigned int mask, unsigned int *told, int mode, struct primary_end end)
{
	struct event *found = alchemy_enter(&kind, event->handle);
	struct wish wish = { found, mask, mode & EV_ANY };
	struct primary_wait wait = { .data = &wish };
	long error = 0;

	if (!found)
		return -EINVAL;
	if (found->shared) {
		found->users++;
		primary_unlock();
		error = wait_shared(found, mask, mode & EV_ANY, end);
		if (told && error >= 0)
			*told = error;
		return error < 0 ? error : 0;
	}
	/* Asked for no flags, it tells those that are set. */
	if (!mask)
		wait.value = found->value;
	else if (!has_enough(&wait))
		error = primary_wait(&found->waiters, &wait, end);
	if (told)
		*told = wait.value;
	return alchemy_leave(error);
}

int rt_event_wait_timed(RT_EVENT *event, unsigned int mask, unsigned int *found, int mode, const struct timespec *end)
{
	return wait_for(event, mask, found, mode, alchemy_at(end));
}

int rt_event_wait_until(RT_EVENT *event, unsigned int mask, unsigned int *found, int mode, RTIME end)
{
	return wait_for(event, mask, found, mode, alchemy_until(end));
}

int rt_event_wait(RT_EVENT *event, unsigned int mask, unsigned int *found, int mode, RTIME timeout)
{
	return wait_for(event, mask, found, mode, alchemy_after(timeout));
}

int rt_event_inquire(RT_EVENT *event, RT_EVENT_INFO *info)
{
	struct event *found = alchemy_enter(&kind, event->handle);

	if (!found)
		return -EINVAL;
	info->value = found->shared ? PRIMARY_CALL(FLAGS_CLEAR, found->shared, 0, 0, 0) : (long)found->value;
	info->nwaiters = primary_count(&found->waiters) + found->users;
	alchemy_tell_name(&found->object, info->name);
	return alchemy_leave(0);
}

int rt_event_bind(RT_EVENT *event, const char *name, RTIME timeout)
{
	return alchemy_bind_shared(&session, name, timeout, &event->handle);
}

int rt_event_unbind(RT_EVENT *event)
{
	event->handle = 0;
	return 0;
}
