// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timers. Those of a real-time thread send their signals here, so that `sigwait` needs no Linux;
 * all others are the C library's.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/cobalt.h>
#include <time.h>

#include "internal.h"
#include "pending.h"
#include "primary/lock.h"
#include "primary/timer.h"

/* The numbers of these timers begin here: the C library's are small, or addresses. */
#define FIRST 0x40000000

/* Greatest overrun that is told. */
#define DELAYTIMER 0x7fffffff

struct timer {
	struct primary_timer timer;
	bool is_used;
	struct primary_thread *thread;
	pid_t tid;
	siginfo_t info;
	int overrun;
};

static struct timer timers[COBALT_TIMERS];

/* The timer with a number; NULL: it is the C library's, or there is none. Under the lock. */
static struct timer *find(timer_t number)
{
	uintptr_t index = (uintptr_t)number - FIRST;

	return index < COBALT_TIMERS && timers[index].is_used ? &timers[index] : NULL;
}

static bool is_ours(timer_t number)
{
	return (uintptr_t)number - FIRST < COBALT_TIMERS;
}

static int clipped(int overrun, uint64_t more)
{
	return more > (uint64_t)(DELAYTIMER - overrun) ? DELAYTIMER : overrun + (int)more;
}

/* Sends the signal, or counts if the last one has not been taken yet. */
static void expires(struct primary_timer *primary, uint64_t times)
{
	struct timer *timer = holder_of(primary, struct timer, timer);
	siginfo_t *before;

	primary_lock();
	if (timer->is_used && timer->info.si_signo && primary_find_tid(timer->tid) == timer->thread) {
		before = cobalt_signal_of_timer(timer->thread, timer->info.si_timerid);
		if (before) {
			before->si_overrun = clipped(before->si_overrun, times);
			timer->overrun = before->si_overrun;
		} else {
			timer->overrun = timer->info.si_overrun = clipped(0, times - 1);
			cobalt_signal_send(timer->thread, &timer->info);
		}
	}
	primary_unlock();
}

/* The thread to which a timer's signals go; NULL: they are Linux's. */
static struct primary_thread *receiver(const struct sigevent *event)
{
	struct primary_thread *thread = primary_self();

	if (event && event->sigev_notify == SIGEV_THREAD_ID)
		thread = primary_find_tid(event->sigev_notify_thread_id);
	else if (event && event->sigev_notify != SIGEV_SIGNAL && event->sigev_notify != SIGEV_NONE)
		thread = NULL;
	return cobalt_takes_signals(thread) ? thread : NULL;
}

static int make(clockid_t clock, const struct sigevent *event, struct primary_thread *thread, timer_t *number)
{
	unsigned int i = 0;
	struct timer *timer;

	while (i < COBALT_TIMERS && timers[i].is_used)
		i++;
	if (i == COBALT_TIMERS)
		return -EAGAIN;
	timer = &timers[i];
	memset(timer, 0, sizeof(*timer));
	primary_timer_init(&timer->timer, clock, expires);
	timer->is_used = true;
	timer->thread = thread;
	timer->tid = thread->tid;
	*number = (timer_t)(uintptr_t)(FIRST + i);
	timer->info.si_code = SI_TIMER;
	timer->info.si_signo = SIGALRM;
	timer->info.si_value.sival_int = i;
	if (event) {
		timer->info.si_signo = event->sigev_notify == SIGEV_NONE ? 0 : event->sigev_signo;
		timer->info.si_value = event->sigev_value;
	}
	timer->info.si_timerid = FIRST + i;
	return 0;
}

WRAP(int, timer_create, clockid_t clock, struct sigevent *event, timer_t *number)
{
	struct primary_thread *thread;
	int result = 0;

	primary_self();
	primary_lock();
	thread = receiver(event);
	if (thread)
		result = primary_now(clock) < 0 ? -EINVAL : make(clock, event, thread, number);
	primary_unlock();
	return thread ? cobalt_told(result) : __real_timer_create(clock, event, number);
}

WRAP(int, timer_delete, timer_t number)
{
	struct timer *timer;

	if (!is_ours(number))
		return __real_timer_delete(number);
	primary_lock();
	timer = find(number);
	if (timer) {
		primary_timer_end(&timer->timer);
		timer->is_used = false;
	}
	primary_unlock();
	return cobalt_told(timer ? 0 : -EINVAL);
}

static void tell(const struct primary_timer *timer, struct itimerspec *value)
{
	int64_t rest = timer->next ? timer->next - primary_now(timer->clock) : 0;

	/* One that is about to expire is not stopped. */
	if (timer->next && rest < 1)
		rest = 1;
	value->it_value = primary_timespec(rest);
	value->it_interval = primary_timespec(timer->interval);
}

static int start(struct primary_timer *timer, bool is_absolute, const struct itimerspec *value)
{
	int64_t first = primary_ns(&value->it_value), interval = primary_ns(&value->it_interval);

	if (first < 0 || interval < 0)
		return -EINVAL;
	if (first && !is_absolute)
		first = primary_later(timer->clock, first);
	return primary_timer_start(timer, first, interval);
}

WRAP(int, timer_settime, timer_t number, int flags, const struct itimerspec *value, struct itimerspec *old)
{
	struct timer *timer;
	int result = -EINVAL;

	if (!is_ours(number))
		return __real_timer_settime(number, flags, value, old);
	primary_lock();
	timer = find(number);
	if (timer && old)
		tell(&timer->timer, old);
	if (timer) {
		timer->overrun = 0;
		result = start(&timer->timer, flags & TIMER_ABSTIME, value);
	}
	primary_unlock();
	return cobalt_told(result);
}

WRAP(int, timer_gettime, timer_t number, struct itimerspec *value)
{
	struct timer *timer;

	if (!is_ours(number))
		return __real_timer_gettime(number, value);
	primary_lock();
	timer = find(number);
	if (timer)
		tell(&timer->timer, value);
	primary_unlock();
	return cobalt_told(timer ? 0 : -EINVAL);
}

WRAP(int, timer_getoverrun, timer_t number)
{
	struct timer *timer;
	int result = -EINVAL;

	if (!is_ours(number))
		return __real_timer_getoverrun(number);
	primary_lock();
	timer = find(number);
	if (timer)
		result = timer->overrun;
	primary_unlock();
	return cobalt_told(result);
}
