// SPDX-License-Identifier: GPL-2.0-only
/* Timers. Who reads one waits for its time by itself. */
#include <errno.h>
#include <evl/evl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"
#include "primary/expiry.h"
#include "primary/lock.h"

struct timer {
	struct evl_object object;
	struct primary_queue readers;
	struct primary_expiry expiry;
};

static struct timer *timer_of(struct evl_object *object)
{
	return holder_of(object, struct timer, object);
}

static struct primary_end changes(struct evl_object *object)
{
	return primary_expires(&timer_of(object)->expiry);
}

static ssize_t do_read(struct evl_object *object, void *buffer, size_t size, bool waits)
{
	struct timer *timer = timer_of(object);
	uint64_t times;
	int error = 0;

	if (size < sizeof(times))
		return -EINVAL;
	while (!(times = primary_expired(&timer->expiry)) && (!error || error == -ETIMEDOUT)) {
		struct primary_wait wait = { 0 };

		error = evl_wait(object, &timer->readers, &wait, waits ? changes(object) : PRIMARY_TRY);
	}
	if (!times)
		return error;
	primary_expiry_read(&timer->expiry, times);
	memcpy(buffer, &times, sizeof(times));
	return sizeof(times);
}

static unsigned int events(struct evl_object *object)
{
	return primary_expired(&timer_of(object)->expiry) ? POLLIN : 0;
}

static void closes(struct evl_object *object)
{
	primary_wake_all(&timer_of(object)->readers, -EBADF);
}

static void ends(struct evl_object *object)
{
	free(timer_of(object));
}

static const struct evl_kind timers = {
	.events = events, .changes = changes, .read = do_read, .closes = closes, .ends = ends
};

int evl_new_timer(int clockfd)
{
	struct timer *timer;
	clockid_t clock;
	int efd;

	if (!evl_clock(clockfd, &clock))
		return -EINVAL;
	evl_init();
	timer = calloc(1, sizeof(*timer));
	if (!timer)
		return -ENOMEM;
	timer->expiry.clock = clock;
	primary_queue_init(&timer->readers, true);
	efd = evl_publish_anonymous(&timer->object, &timers, 0);
	if (efd < 0)
		free(timer);
	return efd;
}

int evl_set_timer(int efd, const struct itimerspec *value, struct itimerspec *old)
{
	int64_t first = primary_ns(&value->it_value), interval = primary_ns(&value->it_interval);
	struct timer *timer;

	if (first < 0 || interval < 0)
		return -EINVAL;
	timer = evl_enter_file(efd, &timers);
	if (!timer)
		return -EBADF;
	if (old)
		*old = primary_expiry_rest(&timer->expiry);
	timer->expiry.next = first;
	timer->expiry.interval = interval;
	primary_wake_all(&timer->readers, 0);
	evl_changed(&timer->object);
	return evl_leave(timer, 0);
}

int evl_get_timer(int efd, struct itimerspec *value)
{
	struct timer *timer = evl_enter_file(efd, &timers);

	if (!timer)
		return -EBADF;
	*value = primary_expiry_rest(&timer->expiry);
	return evl_leave(timer, 0);
}
