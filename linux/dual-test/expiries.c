// SPDX-License-Identifier: GPL-2.0-only
/* Timers that send signals, and threads that wait for these. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

#define ROUNDS 200
#define INTERVAL (200 * MICROSECOND)

static timer_t make(clockid_t clock, int sig, long value)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sig, .sigev_value.sival_ptr = (void *)value,
		._sigev_un._tid = gettid(),
	};
	int timer = -1;

	check(!CALL4(SYS_timer_create, clock, &event, &timer, 0), "timer_create");
	return (timer_t)(long)timer;
}

static void set(timer_t timer, int flags, int64_t first, int64_t interval)
{
	struct itimerspec time = { .it_value = timespec_of(first), .it_interval = timespec_of(interval) };

	check(!CALL4(SYS_timer_settime, (long)timer, flags, &time, NULL), "timer_settime");
}

static uint64_t only(int sig)
{
	return 1ull << (sig - 1);
}

static long wait_for(uint64_t signals, siginfo_t *info, const struct timespec *timeout)
{
	return CALL4(SYS_rt_sigtimedwait, &signals, info, timeout, sizeof(signals));
}

static uint64_t blocked(void)
{
	uint64_t signals;

	check(!CALL4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &signals, sizeof(signals)), "rt_sigprocmask");
	return signals;
}

static void block(uint64_t signals)
{
	check(!CALL4(SYS_rt_sigprocmask, SIG_SETMASK, &signals, NULL, sizeof(signals)), "rt_sigprocmask");
}

static uint64_t calls_left(void)
{
	struct pillion_dual_thread thread = { 0 };

	if (!is_native)
		look(gettid(), &thread);
	return thread.left[PILLION_DUAL_LEFT_CALL];
}

/* Each expiry is signalled, or counted as an overrun, once: in primary mode, and on the way. */
void expiries(void)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME };
	unsigned int i, clock, mixed;
	uint64_t sum, before = 0;
	int64_t first, present;
	siginfo_t info;
	timer_t timer;

	enter();
	block(only(SIGUSR1) | only(SIGUSR2) | only(40));
	for (clock = 0; clock < COUNT(clocks); clock++)
		for (mixed = 0; mixed < 2; mixed++) {
			timer = make(clocks[clock], 40, 0x123456789abcl);
			first = now(clocks[clock]) + MILLISECOND;
			set(timer, TIMER_ABSTIME, first, INTERVAL);
			for (i = 0, sum = 0; i < ROUNDS; i++) {
				memset(&info, 0xff, sizeof(info));
				check(wait_for(only(40) | only(SIGUSR2), &info, NULL) == 40, "the signal");
				present = now(clocks[clock]);
				check(info.si_signo == 40 && info.si_code == SI_TIMER && !info.si_errno, "info");
				check(info.si_value.sival_ptr == (void *)0x123456789abcl, "its value");
				check(info.si_timerid == (int)(long)timer, "timer %d", info.si_timerid);
				sum += 1 + info.si_overrun;
				check(present >= first + (int64_t)(sum - 1) * INTERVAL, "%lld ns early",
				      (long long)(first + (int64_t)(sum - 1) * INTERVAL - present));
				check(present < first + (int64_t)(sum + 1) * INTERVAL + 50 * MILLISECOND, "it is late");
				if (i == 1)
					before = calls_left();
				if (mixed && i % 3 == 1)
					to_linux();
				if (mixed && i % 3 == 2)
					check(!sleep_for(CLOCK_MONOTONIC, i * MICROSECOND * 10, NULL), "a sleep");
				if (mixed && i % 7 == 2)
					to_linux();
				if (!mixed)
					check(CALL2(SYS_timer_getoverrun, (long)timer, 0) == info.si_overrun, "overrun");
			}
			check(mixed || is_native || is_primary(), "it is not in primary mode");
			check(mixed || calls_left() <= before + 1, "it went to Linux");
			check(!CALL2(SYS_timer_delete, (long)timer, 0), "timer_delete");
			check(blocked() == (only(SIGUSR1) | only(SIGUSR2) | only(40)), "signals that are blocked");
			check(wait_for(only(40), &info, &(struct timespec){ 0 }) == -EAGAIN, "a signal of a timer that is gone");
		}
	check_entries(1);
}

/* A thread sets the timer that it waits for again and again. */
void expiries_set(void)
{
	struct itimerspec time = { 0 }, before;
	uint64_t left = 0;
	unsigned int i;
	siginfo_t info;
	timer_t timer;

	enter();
	block(only(40));
	timer = make(CLOCK_MONOTONIC, 40, 7);
	set(timer, 0, MICROSECOND, 0);
	check(wait_for(only(40), &info, NULL) == 40, "the signal");
	/* It goes to primary mode when it waits for one that runs. */
	set(timer, 0, 100 * MICROSECOND, 0);
	check(wait_for(only(40), &info, NULL) == 40, "the signal");
	for (i = 0; i < ROUNDS; i++) {
		int64_t begin = now(CLOCK_MONOTONIC), length = (50 + i) * MICROSECOND;

		if (i == 1)
			left = calls_left();
		time.it_value = timespec_of(i % 2 ? begin + length : length);
		check(!CALL4(SYS_timer_settime, (long)timer, i % 2 ? TIMER_ABSTIME : 0, &time, &before), "timer_settime");
		check(!ns_of(before.it_value) && !ns_of(before.it_interval), "what it was");
		if (i % 5 == 0) {
			check(!CALL2(SYS_timer_gettime, (long)timer, &before), "timer_gettime");
			check(ns_of(before.it_value) > 0 && ns_of(before.it_value) <= length, "what is left");
		}
		check(wait_for(only(40), &info, NULL) == 40 && !info.si_overrun, "the signal");
		check(now(CLOCK_MONOTONIC) >= begin + length, "it is early");
	}
	check(is_native || is_primary(), "it is not in primary mode");
	check(calls_left() <= left + 1, "it went to Linux");
	/* One that is set before it has expired, and stopped; Linux goes on with what it is now. */
	for (i = 0; i < 20; i++) {
		set(timer, 0, 100 * MICROSECOND, 0);
		check(wait_for(only(40), &info, NULL) == 40, "the signal");
		set(timer, 0, 10 * SECOND, SECOND);
		if (i % 2)
			to_linux();
		check(!CALL2(SYS_timer_gettime, (long)timer, &before), "timer_gettime");
		check(ns_of(before.it_value) > 9 * SECOND && ns_of(before.it_interval) == SECOND, "what it is");
		time.it_value = timespec_of(0);
		check(!CALL4(SYS_timer_settime, (long)timer, 0, &time, &before), "stop");
		check(ns_of(before.it_value) > 9 * SECOND && ns_of(before.it_interval) == SECOND, "what it was");
		/* Without a first time, an interval is none. */
		time.it_interval = timespec_of(SECOND);
		check(!CALL4(SYS_timer_settime, (long)timer, 0, &time, NULL), "stop");
		check(!CALL2(SYS_timer_gettime, (long)timer, &before) && !ns_of(before.it_interval), "an interval");
		time.it_interval = timespec_of(0);
		if (i % 3)
			to_linux();
		check(wait_for(only(40), &info, &(struct timespec){ .tv_nsec = 1000000 }) == -EAGAIN, "it is stopped");
	}
	check_entries(1);
}

static volatile sig_atomic_t handled;

static void handles(int sig)
{
	(void)sig;
	handled++;
}

static timer_t other_timer;
static pthread_t other_thread;

static void *disturbs(void *kind)
{
	struct itimerspec time;

	usleep(10000);
	switch ((long)kind) {
	case 0:
		check(!pthread_kill(other_thread, SIGUSR2), "pthread_kill");
		break;
	case 1:
		check(!kill(getpid(), SIGUSR2), "kill");
		break;
	case 2:
		check(!pthread_kill(other_thread, SIGHUP), "pthread_kill");
		break;
	case 3:
		check(!CALL2(SYS_timer_gettime, (long)other_timer, &time), "timer_gettime");
		check(ns_of(time.it_value) > 900 * MILLISECOND && ns_of(time.it_interval) == 2 * SECOND, "what is left");
		set(other_timer, 0, MILLISECOND, 0);
		break;
	case 4:
		check(!CALL2(SYS_timer_delete, (long)other_timer, 0), "timer_delete");
		usleep(10000);
		check(!pthread_kill(other_thread, SIGUSR2), "pthread_kill");
		break;
	}
	return NULL;
}

/* Other signals, and other threads that use the timer. */
void expiries_disturbed(void)
{
	struct sigaction action = { .sa_handler = handles, .sa_flags = SA_RESTART };
	static const int results[] = { SIGUSR2, SIGUSR2, -EINTR, 40, SIGUSR2 };
	struct timespec short_time = timespec_of(5 * MILLISECOND);
	siginfo_t info;
	pthread_t thread;
	int64_t begin;
	long kind, result;

	enter();
	check(!sigaction(SIGHUP, &action, NULL), "sigaction");
	block(only(SIGUSR2) | only(40));
	other_thread = pthread_self();
	for (kind = 0; kind < 5; kind++) {
		other_timer = make(CLOCK_MONOTONIC, 40, 7);
		set(other_timer, 0, SECOND, 2 * SECOND);
		to_primary();
		begin = now(CLOCK_MONOTONIC);
		check(wait_for(only(40) | only(SIGUSR2), &info, &short_time) == -EAGAIN, "a short wait");
		check(now(CLOCK_MONOTONIC) - begin >= 5 * MILLISECOND, "it is early");
		thread = begin_thread(PRIORITY + 1, disturbs, (void *)kind);
		result = wait_for(only(40) | only(SIGUSR2), &info, NULL);
		check(result == results[kind], "kind %ld: %ld", kind, result);
		check(now(CLOCK_MONOTONIC) - begin < 500 * MILLISECOND, "kind %ld is late", kind);
		check(result != SIGUSR2 || info.si_code == (kind == 1 ? SI_USER : SI_TKILL), "code %d", info.si_code);
		check(result != 40 || (info.si_code == SI_TIMER && info.si_value.sival_int == 7), "code %d", info.si_code);
		check(!pthread_join(thread, NULL), "pthread_join");
		check(handled == (kind >= 2), "%d signals handled", (int)handled);
		check(wait_for(only(40) | only(SIGUSR2), &info, &(struct timespec){ 0 }) == -EAGAIN, "another signal");
		if (kind != 4)
			check(!CALL2(SYS_timer_delete, (long)other_timer, 0), "timer_delete");
		check(blocked() == (only(SIGUSR2) | only(40)), "signals that are blocked");
	}
	check_entries(5);
}

/* Linux sets a timer, and then fails to say what it was before. */
void expiries_unsaid(void)
{
	struct itimerspec soon = { .it_value = timespec_of(20 * MILLISECOND) };
	siginfo_t info;
	timer_t timer;
	int64_t begin;

	enter();
	block(only(40));
	timer = make(CLOCK_MONOTONIC, 40, 1);
	set(timer, 0, 10 * SECOND, 0);
	begin = now(CLOCK_MONOTONIC);
	check(CALL4(SYS_timer_settime, (long)timer, 0, &soon, 8) == -EFAULT, "to nowhere");
	check(wait_for(only(40), &info, NULL) == 40, "the signal");
	check(now(CLOCK_MONOTONIC) - begin >= 20 * MILLISECOND, "it is early");
	check(now(CLOCK_MONOTONIC) - begin < 5 * SECOND, "it is late");
	/* It is known again. */
	set(timer, 0, MILLISECOND, 0);
	check(wait_for(only(40), &info, NULL) == 40, "the signal");
	check_entries(1);
}
