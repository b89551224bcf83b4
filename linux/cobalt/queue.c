// SPDX-License-Identifier: GPL-2.0-only
#include "queue.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "pending.h"
#include "primary/list.h"
#include "primary/lock.h"
#include "primary/wait.h"

/* Most bytes of the texts of a queue that primary mode has. */
#define MOST_BYTES (128 << 10)

mqd_t __real_mq_open(const char *name, int flags, ...);
int __real_mq_close(mqd_t queue);
int __real_mq_timedsend(mqd_t queue, const char *text, size_t size, unsigned int priority, const struct timespec *time);
int __real_mq_send(mqd_t queue, const char *text, size_t size, unsigned int priority);
ssize_t __real_mq_timedreceive(mqd_t queue, char *text, size_t size, unsigned int *priority, const struct timespec *time);
ssize_t __real_mq_receive(mqd_t queue, char *text, size_t size, unsigned int *priority);
int __real_mq_notify(mqd_t queue, const struct sigevent *event);

/* A thread that asked to be told of a message by a signal that it takes here. */
struct asked {
	struct link link;
	/* It may have been forgotten when Linux says that the message came. */
	uintptr_t number;
	mqd_t queue;
	struct primary_thread *thread;
	pid_t tid;
	struct sigevent event;
};

static struct link all_asked = LINK_INIT(all_asked);

/* Without attributes, Linux makes a queue of a size that primary mode has. */
static bool fits(const struct mq_attr *attributes)
{
	return !attributes || (attributes->mq_maxmsg > 0 && attributes->mq_msgsize > 0 &&
			       attributes->mq_maxmsg <= PILLION_DUAL_QUEUE_MESSAGES &&
			       attributes->mq_msgsize <= PILLION_DUAL_QUEUE_SIZE &&
			       attributes->mq_maxmsg * attributes->mq_msgsize <= MOST_BYTES);
}

int cobalt_open_shared(const char *name, int flags, mode_t mode, struct mq_attr *attributes)
{
	bool is_made = flags & O_CREAT && fits(attributes);
	mqd_t queue;

	/* Linux's names have no more slashes. */
	if (strchr(name + 1, '/'))
		return -ENOSYS;
	queue = __real_mq_open(name, is_made ? flags : flags & ~(O_CREAT | O_EXCL), mode, attributes);
	if (queue >= 0 && !is_made && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
		__real_mq_close(queue);
		return -EEXIST;
	}
	if (queue >= 0)
		return queue;
	if (!(flags & O_CREAT) || errno == EEXIST || errno == EACCES || errno == ENAMETOOLONG)
		return -errno;
	/* Beyond the limits of Linux's (fs.mqueue, RLIMIT_MSGQUEUE), or there is none yet. */
	return -ENOSYS;
}

/* Takes out who asked by a descriptor, or has a number; NULL: nobody. Under the lock. */
static struct asked *take_asked(mqd_t queue, uintptr_t number)
{
	for each_link(link, &all_asked) {
		struct asked *asked = holder_of(link, struct asked, link);

		if (asked->queue == queue || asked->number == number) {
			link_remove(link);
			return asked;
		}
	}
	return NULL;
}

/* Who asked by a descriptor is not told. */
static void forget(mqd_t queue)
{
	struct asked *asked;

	do {
		primary_lock();
		asked = take_asked(queue, 0);
		primary_unlock();
		free(asked);
	} while (asked);
}

int cobalt_close_shared(mqd_t queue)
{
	forget(queue);
	return __real_mq_close(queue);
}

/* Tries what would have to wait, for a thread that is to be told of that. Whether it is over. */
static bool is_at_once(ssize_t result)
{
	int error;

	if (result >= 0 || errno != ETIMEDOUT)
		return true;
	error = primary_may_sleep();
	if (error)
		errno = -error;
	return error;
}

int cobalt_send_shared(mqd_t queue, const char *text, size_t size, unsigned int priority, const struct timespec *time)
{
	static const struct timespec at_once;

	if (primary_sleeps) {
		int result = __real_mq_timedsend(queue, text, size, priority, &at_once);

		if (is_at_once(result))
			return result;
	}
	return time ? __real_mq_timedsend(queue, text, size, priority, time) : __real_mq_send(queue, text, size, priority);
}

ssize_t cobalt_receive_shared(mqd_t queue, char *text, size_t size, unsigned int *priority, const struct timespec *time)
{
	static const struct timespec at_once;

	if (primary_sleeps) {
		ssize_t result = __real_mq_timedreceive(queue, text, size, priority, &at_once);

		if (is_at_once(result))
			return result;
	}
	if (time)
		return __real_mq_timedreceive(queue, text, size, priority, time);
	return __real_mq_receive(queue, text, size, priority);
}

/* In a thread of the C library's: Linux says that a message came. */
static void tell(union sigval value)
{
	siginfo_t info = cobalt_signal(0, SI_MESGQ);
	struct asked *asked;

	primary_lock();
	asked = take_asked(-1, (uintptr_t)value.sival_ptr);
	if (asked) {
		info.si_signo = asked->event.sigev_signo;
		info.si_value = asked->event.sigev_value;
		if (primary_find_tid(asked->tid) == asked->thread)
			cobalt_signal_send(asked->thread, &info);
	}
	primary_unlock();
	free(asked);
}

/* Linux tells a thread of the C library's, which tells the one that asked. */
static int notify(mqd_t queue, const struct sigevent *event)
{
	struct sigevent through = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = tell };
	struct asked *asked = malloc(sizeof(*asked));
	static uintptr_t last;
	uintptr_t number;
	int error;

	if (!asked)
		return ENOMEM;
	*asked = (struct asked){ .queue = queue, .thread = primary_self(), .tid = primary_tid(), .event = *event };
	primary_lock();
	number = asked->number = ++last;
	link_before(&asked->link, &all_asked);
	primary_unlock();
	through.sigev_value.sival_ptr = (void *)number;
	error = __real_mq_notify(queue, &through) ? errno : 0;
	if (!error)
		return 0;
	primary_lock();
	asked = take_asked(-1, number);
	primary_unlock();
	free(asked);
	return error;
}

int cobalt_notify_shared(mqd_t queue, const struct sigevent *event)
{
	if (event && event->sigev_notify == SIGEV_SIGNAL && event->sigev_signo > 0 && event->sigev_signo <= SIGRTMAX &&
	    cobalt_takes_signals(primary_self()))
		return cobalt_told(-notify(queue, event));
	if (!event)
		forget(queue);
	return __real_mq_notify(queue, event);
}
