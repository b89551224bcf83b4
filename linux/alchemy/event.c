// SPDX-License-Identifier: GPL-2.0-only
#include <alchemy/event.h>
#include <errno.h>
#include <stdlib.h>

#include "object.h"
#include "primary/lock.h"

struct event {
	struct alchemy_object object;
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

int rt_event_create(RT_EVENT *event, const char *name, unsigned int value, int mode)
{
	struct event *made;
	int error;

	if (mode & ~EV_PRIO)
		return -EINVAL;
	made = malloc(sizeof(*made));
	if (!made)
		return -ENOMEM;
	primary_queue_init(&made->waiters, mode & EV_PRIO);
	made->value = value;
	error = alchemy_add(&made->object, &kind, name, &event->handle);
	if (error)
		free(made);
	return error;
}

int rt_event_delete(RT_EVENT *event)
{
	struct event *found = alchemy_enter(&kind, event->handle);

	if (!found)
		return -EINVAL;
	primary_wake_all(&found->waiters, -EIDRM);
	alchemy_remove(&found->object);
	free(found);
	return alchemy_leave(0);
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
	found->value |= mask;
	primary_wake_some(&found->waiters, has_enough);
	return alchemy_leave(0);
}

int rt_event_clear(RT_EVENT *event, unsigned int mask, unsigned int *before)
{
	struct event *found = alchemy_enter(&kind, event->handle);

	if (!found)
		return -EINVAL;
	if (before)
		*before = found->value;
	found->value &= ~mask;
	return alchemy_leave(0);
}

static int wait_for(RT_EVENT *event, unsigned int mask, unsigned int *told, int mode, struct primary_end end)
{
	struct event *found = alchemy_enter(&kind, event->handle);
	struct wish wish = { found, mask, mode & EV_ANY };
	struct primary_wait wait = { .data = &wish };
	int error = 0;

	if (!found)
		return -EINVAL;
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
	info->value = found->value;
	info->nwaiters = primary_count(&found->waiters);
	alchemy_tell_name(&found->object, info->name);
	return alchemy_leave(0);
}

int rt_event_bind(RT_EVENT *event, const char *name, RTIME timeout)
{
	return alchemy_bind(&kind, name, timeout, &event->handle);
}

int rt_event_unbind(RT_EVENT *event)
{
	event->handle = 0;
	return 0;
}
