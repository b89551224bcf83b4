// SPDX-License-Identifier: GPL-2.0-only
#include <alchemy/alarm.h>
#include <errno.h>
#include <stdlib.h>
#include <trank/native/alarm.h>

#undef rt_alarm_create

#include "object.h"
#include "primary/lock.h"
#include "primary/timer.h"

struct alarm {
	struct alchemy_object object;
	struct primary_timer timer;
	struct primary_queue waiters;
	void (*handler)(void *argument);
	void *argument;
	unsigned long expiries;
};

static const struct alchemy_kind kind = { "alarm" };

/* Called without the lock; the alarm is not freed before this returns, unless by the handler. */
static void expires(struct primary_timer *timer, uint64_t times)
{
	struct alarm *alarm = holder_of(timer, struct alarm, timer);

	alarm->expiries += times;
	if (alarm->handler) {
		alarm->handler(alarm->argument);
		return;
	}
	primary_lock();
	primary_wake_all(&alarm->waiters, 0);
	primary_unlock();
}

static int make(RT_ALARM *alarm, const char *name, void (*handler)(void *argument), void *argument)
{
	struct alarm *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	primary_queue_init(&made->waiters, true);
	primary_timer_init(&made->timer, CLOCK_COPPERPLATE, expires);
	made->handler = handler;
	made->argument = argument;
	return alchemy_add_made(made, &kind, name, &alarm->handle);
}

int rt_alarm_create(RT_ALARM *alarm, const char *name, void (*handler)(void *argument), void *argument)
{
	return handler ? make(alarm, name, handler, argument) : -EINVAL;
}

int trank_alarm_create(RT_ALARM *alarm, const char *name)
{
	return make(alarm, name, NULL, NULL);
}

int rt_alarm_wait(RT_ALARM *alarm)
{
	struct alarm *found = alchemy_enter(&kind, alarm->handle);
	struct primary_wait wait = { 0 };

	if (!found)
		return -EINVAL;
	/* It has a function that is called. */
	if (found->handler)
		return alchemy_leave(-EINVAL);
	return alchemy_leave(primary_wait(&found->waiters, &wait, PRIMARY_FOREVER));
}

int rt_alarm_delete(RT_ALARM *alarm)
{
	struct alarm *found = alchemy_enter(&kind, alarm->handle);

	if (!found)
		return -EINVAL;
	alchemy_remove(&found->object);
	primary_wake_all(&found->waiters, -EIDRM);
	primary_timer_end(&found->timer);
	free(found);
	return alchemy_leave(0);
}

int rt_alarm_start(RT_ALARM *alarm, RTIME first, RTIME interval)
{
	struct alarm *found = alchemy_enter(&kind, alarm->handle);

	if (!found)
		return -EINVAL;
	return alchemy_leave(primary_timer_start(&found->timer, primary_later(CLOCK_COPPERPLATE, alchemy_ns(first)),
						  alchemy_ns(interval)));
}

int rt_alarm_stop(RT_ALARM *alarm)
{
	struct alarm *found = alchemy_enter(&kind, alarm->handle);

	return found ? alchemy_leave(primary_timer_start(&found->timer, 0, 0)) : -EINVAL;
}

int rt_alarm_inquire(RT_ALARM *alarm, RT_ALARM_INFO *info)
{
	struct alarm *found = alchemy_enter(&kind, alarm->handle);

	if (!found)
		return -EINVAL;
	info->expiries = found->expiries;
	info->active = found->timer.next != 0;
	alchemy_tell_name(&found->object, info->name);
	return alchemy_leave(0);
}
