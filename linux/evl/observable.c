// SPDX-License-Identifier: GPL-2.0-only
/* Observables. Each observer has a ring of notices for it to read; what does not fit is lost. */
#include <errno.h>
#include <evl/evl.h>
#include <poll.h>
#include <stdlib.h>

#include "observed.h"
#include "primary/lock.h"
#include "threads.h"

struct observable {
	struct evl_object object;
	struct evl_observed observed;
};

struct observer {
	/* Of what is observed, and of the thread that does. */
	struct link link;
	struct link subscription;
	struct evl_thread *thread;
	bool on_change;
	/* The last one that it was told of. */
	struct evl_notice last;
	unsigned int size;
	unsigned int first;
	unsigned int count;
	struct evl_notification backlog[];
};

static struct observer *observer_of(struct link *link)
{
	return holder_of(link, struct observer, link);
}

void evl_observed_init(struct evl_observed *observed, bool is_unicast)
{
	link_init(&observed->observers);
	primary_queue_init(&observed->readers, true);
	observed->serial = 0;
	observed->is_unicast = is_unicast;
}

static void forget(struct observer *observer)
{
	link_remove(&observer->link);
	link_remove(&observer->subscription);
	free(observer);
}

void evl_observed_end(struct evl_observed *observed)
{
	while (!link_alone(&observed->observers))
		forget(observer_of(observed->observers.next));
}

void evl_observe_no_more(struct link *subscriptions)
{
	while (!link_alone(subscriptions))
		forget(holder_of(subscriptions->next, struct observer, subscription));
}

/* The calling thread as an observer, or NULL. */
static struct observer *own(const struct evl_observed *observed)
{
	for each_link(link, &observed->observers)
		if (observer_of(link)->thread == evl_current)
			return observer_of(link);
	return NULL;
}

unsigned int evl_observed_events(const struct evl_observed *observed)
{
	const struct observer *observer = own(observed);

	return POLLOUT | POLLWRNORM | (observer && observer->count ? POLLIN | POLLRDNORM : 0);
}

/* Returns false if there is no room. */
static bool push(struct observer *observer, const struct evl_notification *notification)
{
	struct evl_notice notice = { notification->tag, notification->event };

	if (observer->on_change && notice.tag == observer->last.tag && notice.event.lval == observer->last.event.lval)
		return true;
	if (observer->count == observer->size)
		return false;
	observer->last = notice;
	observer->backlog[(observer->first + observer->count++) % observer->size] = *notification;
	return true;
}

/* The most urgent observer that waits; else the one that has got none for longest. */
static struct observer *choose(struct evl_observed *observed)
{
	const struct primary_wait *wait = primary_first(&observed->readers);

	if (link_alone(&observed->observers))
		return NULL;
	for each_link(link, &observed->observers)
		if (wait && observer_of(link)->thread->thread == wait->thread)
			return observer_of(link);
	return observer_of(observed->observers.next);
}

static bool spread(struct evl_observed *observed, const struct evl_notification *notification)
{
	struct observer *chosen;
	bool is_told = false;

	if (observed->is_unicast) {
		chosen = choose(observed);
		if (!chosen)
			return false;
		link_remove(&chosen->link);
		link_before(&chosen->link, &observed->observers);
		return push(chosen, notification);
	}
	for each_link(link, &observed->observers)
		is_told |= push(observer_of(link), notification);
	return is_told;
}

bool evl_notify(struct evl_object *object, struct evl_observed *observed, unsigned int tag, union evl_value event)
{
	struct evl_notification notification = { .tag = tag, .event = event };

	notification.serial = observed->serial++;
	notification.issuer = primary_tid();
	notification.date = primary_timespec(primary_now(CLOCK_MONOTONIC));
	if (!spread(observed, &notification))
		return false;
	/* Each looks whether there is something for it. */
	primary_wake_all(&observed->readers, 0);
	evl_changed(object);
	return true;
}

static void closes(struct evl_object *object)
{
	primary_wake_all(&holder_of(object, struct observable, object)->observed.readers, -EBADF);
}

static void ends(struct evl_object *object)
{
	struct observable *observable = holder_of(object, struct observable, object);

	evl_observed_end(&observable->observed);
	free(observable);
}

static unsigned int events(struct evl_object *object)
{
	return evl_observed_events(&holder_of(object, struct observable, object)->observed);
}

static const struct evl_kind observables = { .events = events, .closes = closes, .ends = ends };

int evl_create_observable(int flags, const char *format, ...)
{
	struct observable *observable;
	va_list arguments;
	int efd;

	if (flags & ~EVL_CLONE_MASK)
		return -EINVAL;
	evl_init();
	observable = calloc(1, sizeof(*observable));
	if (!observable)
		return -ENOMEM;
	evl_observed_init(&observable->observed, flags & EVL_CLONE_UNICAST);
	va_start(arguments, format);
	efd = evl_publish(&observable->object, &observables, flags, -1, format, arguments);
	va_end(arguments);
	if (efd < 0)
		free(observable);
	return efd;
}

/* What a descriptor makes observable, with its object, the lock and a reference. */
static struct evl_observed *enter(int efd, struct evl_object **object, bool *waits)
{
	struct evl_thread *thread;

	*object = evl_enter_any(efd, waits);
	if (!*object)
		return NULL;
	if ((*object)->kind == &observables)
		return &holder_of(*object, struct observable, object)->observed;
	thread = holder_of(*object, struct evl_thread, object);
	if ((*object)->kind == &evl_threads && thread->is_observable)
		return &thread->observed;
	evl_leave(*object, 0);
	return NULL;
}

int evl_update_observable(int ofd, const struct evl_notice *notices, int count)
{
	struct evl_observed *observed;
	struct evl_object *object;
	int i, told = 0;
	bool waits;

	for (i = 0; i < count; i++)
		if (notices[i].tag < EVL_NOTICE_USER)
			return -EINVAL;
	observed = enter(ofd, &object, &waits);
	if (!observed)
		return -EBADF;
	for (i = 0; i < count; i++)
		told += evl_notify(object, observed, notices[i].tag, notices[i].event);
	return evl_leave(object, told);
}

static int take(struct observer *observer, struct evl_notification *notifications, int room)
{
	int count = 0;

	while (count < room && observer->count) {
		notifications[count++] = observer->backlog[observer->first];
		observer->first = (observer->first + 1) % observer->size;
		observer->count--;
	}
	return count;
}

static int wait_for(struct evl_observed *observed, struct evl_object *object, struct evl_notification *notifications,
		    int room, bool waits)
{
	struct observer *observer;
	int error = 0;

	/* It may have unsubscribed, in a handler, or the memory have moved. */
	while ((observer = own(observed)) && !observer->count && !error) {
		struct primary_wait wait = { 0 };

		error = evl_wait(object, &observed->readers, &wait, waits ? PRIMARY_FOREVER : PRIMARY_TRY);
	}
	if (!observer)
		return -ENXIO;
	return observer->count ? take(observer, notifications, room) : error;
}

int evl_read_observable(int ofd, struct evl_notification *notifications, int count)
{
	struct evl_observed *observed;
	struct evl_object *object;
	bool waits;

	if (count < 1)
		return -EINVAL;
	if (!evl_current)
		return -EPERM;
	observed = enter(ofd, &object, &waits);
	return observed ? evl_leave(object, wait_for(observed, object, notifications, count, waits)) : -EBADF;
}

int evl_subscribe(int ofd, unsigned int backlog_count, int flags)
{
	struct evl_observed *observed;
	struct evl_object *object;
	struct observer *observer;
	bool waits, is_new;

	if (!backlog_count || backlog_count > 1 << 16 || flags & ~EVL_NOTIFY_ONCHANGE)
		return -EINVAL;
	if (!evl_current)
		return -EPERM;
	observer = calloc(1, sizeof(*observer) + backlog_count * sizeof(observer->backlog[0]));
	if (!observer)
		return -ENOMEM;
	observer->thread = evl_current;
	observer->size = backlog_count;
	observer->on_change = flags & EVL_NOTIFY_ONCHANGE;
	observed = enter(ofd, &object, &waits);
	is_new = observed && !own(observed);
	if (is_new) {
		link_before(&observer->link, &observed->observers);
		link_init(&observer->subscription);
		link_before(&observer->subscription, &evl_current->subscriptions);
	} else {
		free(observer);
	}
	if (!observed)
		return -EBADF;
	return evl_leave(object, is_new ? 0 : -EEXIST);
}

int evl_unsubscribe(int ofd)
{
	struct evl_observed *observed;
	struct evl_object *object;
	struct observer *observer;
	bool waits;

	observed = enter(ofd, &object, &waits);
	if (!observed)
		return -EBADF;
	observer = own(observed);
	if (observer)
		forget(observer);
	return evl_leave(object, observer ? 0 : -ENOENT);
}
