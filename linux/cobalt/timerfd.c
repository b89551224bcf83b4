// SPDX-License-Identifier: GPL-2.0-only
/* Timers with descriptors. Who reads one waits for its time by itself. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>

#include "file.h"
#include "internal.h"
#include "primary/expiry.h"
#include "primary/lock.h"
#include "primary/wait.h"

struct timerfd {
	struct primary_file file;
	struct primary_queue readers;
	struct primary_expiry expiry;
};

static struct timerfd *timerfd_of(struct primary_file *file)
{
	return holder_of(file, struct timerfd, file);
}

static ssize_t do_read(struct primary_file *file, void *buffer, size_t size)
{
	struct timerfd *timer = timerfd_of(file);
	uint64_t times;
	int error = 0;

	if (size < sizeof(times))
		return -EINVAL;
	while (!(times = primary_expired(&timer->expiry)) && (!error || error == -ETIMEDOUT)) {
		struct primary_wait wait = { 0 };

		error = primary_wait(&timer->readers, &wait, cobalt_end(file, primary_expires(&timer->expiry)));
	}
	if (!times)
		return error;
	primary_expiry_read(&timer->expiry, times);
	memcpy(buffer, &times, sizeof(times));
	return sizeof(times);
}

static unsigned int events(struct primary_file *file)
{
	return primary_expired(&timerfd_of(file)->expiry) ? POLLIN : 0;
}

static struct primary_end changes(struct primary_file *file)
{
	return primary_expires(&timerfd_of(file)->expiry);
}

static void closes(struct primary_file *file)
{
	primary_wake_all(&timerfd_of(file)->readers, -EBADF);
}

static void ends(struct primary_file *file)
{
	free(timerfd_of(file));
}

static const struct cobalt_kind timers = {
	.file = { .events = events, .changes = changes, .closes = closes, .ends = ends },
	.read = do_read,
};

WRAP(int, timerfd_create, int clock, int flags)
{
	struct timerfd *timer;
	int number;

	if (primary_now(clock) < 0)
		return cobalt_told(-EINVAL);
	timer = calloc(1, sizeof(*timer));
	if (!timer)
		return cobalt_told(-ENOMEM);
	timer->expiry.clock = clock;
	primary_queue_init(&timer->readers, true);
	number = primary_open(&timer->file, &timers.file, flags);
	if (number < 0)
		free(timer);
	return cobalt_told(number);
}

WRAP(int, timerfd_settime, int number, int flags, const struct itimerspec *value, struct itimerspec *old)
{
	int64_t first = primary_ns(&value->it_value), interval = primary_ns(&value->it_interval);
	struct primary_file *file;

	if (!primary_is_file(number))
		return __real_timerfd_settime(number, flags, value, old);
	if (first < 0 || interval < 0)
		return cobalt_told(-EINVAL);
	primary_lock();
	file = primary_get(number, &timers.file);
	if (file) {
		struct timerfd *timer = timerfd_of(file);

		if (old)
			*old = primary_expiry_rest(&timer->expiry);
		if (first && !(flags & TFD_TIMER_ABSTIME))
			first = primary_later(timer->expiry.clock, first);
		timer->expiry.next = first;
		timer->expiry.interval = interval;
		primary_wake_all(&timer->readers, 0);
		primary_changed(file);
		primary_put(file);
	}
	primary_unlock();
	return cobalt_told(file ? 0 : -EINVAL);
}

WRAP(int, timerfd_gettime, int number, struct itimerspec *value)
{
	struct primary_file *file;

	if (!primary_is_file(number))
		return __real_timerfd_gettime(number, value);
	primary_lock();
	file = primary_get(number, &timers.file);
	if (file) {
		*value = primary_expiry_rest(&timerfd_of(file)->expiry);
		primary_put(file);
	}
	primary_unlock();
	return cobalt_told(file ? 0 : -EINVAL);
}
