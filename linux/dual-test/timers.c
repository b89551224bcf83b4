// SPDX-License-Identifier: GPL-2.0-only
/* Timerfds that both sides read. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "files.h"
#include "test.h"

/* A timer that expires again and again is read without Linux, and counted from its first expiry. */
void timer_periods(void)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME };
	const int64_t interval = 200 * MICROSECOND;
	struct pillion_dual_thread before = { 0 }, after = { 0 };
	unsigned int i, clock;

	enter();
	for (clock = 0; clock < COUNT(clocks); clock++) {
		int file = timer(clocks[clock], 0);
		int64_t first = now(clocks[clock]) + MILLISECOND, present;
		uint64_t sum = 0;

		arm(file, TFD_TIMER_ABSTIME, first, interval);
		/* It enters primary mode in its first read. */
		sum += taken(file);
		check_mode(true);
		if (!is_native)
			look(gettid(), &before);
		to_primary();
		for (i = 0; i < ROUNDS; i++) {
			uint64_t count = taken(file);

			present = now(clocks[clock]);
			sum += count;
			check(count, "nothing was read");
			check(present >= first + (int64_t)(sum - 1) * interval, "%lld ns early",
			      (long long)(first + (int64_t)(sum - 1) * interval - present));
			check(present < first + (int64_t)(sum + 1) * interval + 100 * MILLISECOND, "it is late");
		}
		check_mode(true);
		if (!is_native) {
			look(gettid(), &after);
			check(after.left[PILLION_DUAL_LEFT_CALL] <= before.left[PILLION_DUAL_LEFT_CALL] + 1, "it went to Linux");
		}
		close(file);
	}
	check_entries(1);
}

static void *sets(void *absolute)
{
	usleep(20000);
	arm(pair.files[0], absolute ? TFD_TIMER_ABSTIME : 0,
	    absolute ? now(CLOCK_REALTIME) + MILLISECOND : MILLISECOND, 0);
	return NULL;
}

/* Timers are set, asked and stopped, as in Linux. */
/* Whether Linux shows a timer with those flags. */
static bool has_flags(int file, const char *flags)
{
	char path[64], text[512] = "", line[64];
	int shown;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", file);
	snprintf(line, sizeof(line), "settime flags: %s\n", flags);
	shown = open(path, O_RDONLY);
	check(shown >= 0 && read(shown, text, sizeof(text) - 1) > 0, "%s: %s", path, strerror(errno));
	close(shown);
	return strstr(text, line);
}

void timer_settings(void)
{
	struct itimerspec time, before;
	struct epoll_event found, wanted = { .events = EPOLLIN };
	struct pollfd polled;
	unsigned int i;
	pthread_t other;
	uint64_t value;
	int set, file;

	enter();
	for (i = 0; i < 4; i++) {
		file = timer(i % 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC, i / 2 ? TFD_NONBLOCK : 0);
		check(!timerfd_gettime(file, &time) && !ns_of(time.it_value) && !ns_of(time.it_interval), "a new timer");
		arm(file, 0, 10 * SECOND, 3 * SECOND);
		check(!timerfd_gettime(file, &time), "timerfd_gettime");
		check(ns_of(time.it_value) > 9 * SECOND && ns_of(time.it_value) <= 10 * SECOND, "what is left");
		check(ns_of(time.it_interval) == 3 * SECOND, "the interval");
		check(has_flags(file, "00"), "flags of a length of time");
		/* Long ago: all expirations since are there at once. */
		arm(file, TFD_TIMER_ABSTIME, now(i % 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC) - 95 * MILLISECOND,
		    10 * MILLISECOND);
		check(has_flags(file, "01"), "flags of a time");
		to_primary();
		value = taken(file);
		check(value >= 10 && value < 20, "%llu expirations", (unsigned long long)value);
		check_mode(true);
		time = (struct itimerspec){ .it_interval = timespec_of(5) };
		check(!timerfd_settime(file, 0, &time, &before), "timerfd_settime");
		check(ns_of(before.it_value) <= 10 * MILLISECOND && ns_of(before.it_interval) == 10 * MILLISECOND, "before");
		check(!timerfd_gettime(file, &time) && !ns_of(time.it_value) && ns_of(time.it_interval) == 5, "after");
		if (i / 2) {
			to_primary();
			check(take(file, &value) == -EAGAIN, "a timer that is stopped");
			check_mode(true);
		}
		arm(file, 0, MICROSECOND, 0);
		to_primary();
		check(taken(file) == 1, "it expires once");
		check(!timerfd_gettime(file, &time) && !ns_of(time.it_value), "it has expired");
		check(timerfd_settime(file, 8, &time, NULL) && errno == EINVAL, "a wrong flag");
		time.it_value.tv_nsec = SECOND;
		check(timerfd_settime(file, 0, &time, NULL) && errno == EINVAL, "a wrong time");
		check(timerfd_settime(file, 0, (void *)8, NULL) && errno == EFAULT, "no time");
		check(call(SYS_write, file, (long)&value, 8, 0, 0, 0) == -EINVAL, "a write");
		close(file);
	}
	/* Set while it is waited for: in primary mode, and in Linux. */
	for (i = 0; i < 4; i++) {
		int64_t begin = now(CLOCK_MONOTONIC);

		if (i == 2)
			be_ordinary();
		pair.files[0] = timer(CLOCK_REALTIME, 0);
		arm(pair.files[0], 0, i % 2 ? 100 * SECOND : 0, 0);
		other = begin_thread(i / 2 ? 0 : PRIORITY + 1, sets, i % 2 ? "" : NULL);
		check(taken(pair.files[0]) == 1, "what was set");
		check(now(CLOCK_MONOTONIC) - begin >= 21 * MILLISECOND, "it is early");
		check(!pthread_join(other, NULL), "pthread_join");
		close(pair.files[0]);
	}
	/* Those who poll in Linux are woken at each expiry. */
	file = timer(CLOCK_MONOTONIC, 0);
	set = epoll_create1(0);
	check(!epoll_ctl(set, EPOLL_CTL_ADD, file, &wanted), "epoll_ctl");
	check(!epoll_wait(set, &found, 1, 0), "it does not run");
	arm(file, 0, 5 * MILLISECOND, 5 * MILLISECOND);
	for (i = 0; i < 10; i++) {
		check(epoll_wait(set, &found, 1, 10000) == 1, "epoll_wait");
		check(taken(file), "what was polled for");
		polled = (struct pollfd){ .fd = file, .events = POLLIN | POLLOUT };
		check(poll(&polled, 1, 10000) == 1 && polled.revents == POLLIN, "poll");
	}
	close(set);
	close(file);
	check_entries(4);
}

/* System calls, as this program makes them, about a timer. */
static long set_to(int file, int flags, int64_t first, int64_t interval, struct itimerspec *before)
{
	struct itimerspec time = { .it_value = timespec_of(first), .it_interval = timespec_of(interval) };

	return CALL4(SYS_timerfd_settime, file, flags, &time, before);
}

static void *waits_for_timer(void *nothing)
{
	(void)nothing;
	check(taken(pair.files[0]) == 1, "what was set");
	pair.done = 1;
	return NULL;
}

/* Timers are set, asked and stopped by a thread in primary mode. */
void timer_sets(void)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME };
	struct pillion_dual_thread first = { 0 }, last = { 0 };
	struct itimerspec before, odd[2];
	unsigned int i, clock;
	pthread_t other;
	uint64_t value;

	enter();
	for (clock = 0; clock < COUNT(clocks); clock++) {
		int file = timer(clocks[clock], 0);

		to_primary();
		for (i = 0; i < ROUNDS; i++) {
			int64_t begin = now(clocks[clock]), length = (50 + i) * MICROSECOND;
			int flags = i % 2 ? TFD_TIMER_ABSTIME : 0;

			if (i == 1 && !is_native)
				look(gettid(), &first);
			check(!set_to(file, flags, i % 2 ? begin + length : length, i % 3 ? 0 : 10 * SECOND, &before), "set");
			check(!ns_of(before.it_value) == !(i && i % 3 == 1), "what was left in round %u", i);
			check(ns_of(before.it_interval) == (i && i % 3 == 1 ? 10 * SECOND : 0), "what it was");
			check(taken(file) == 1, "it expires");
			check(now(clocks[clock]) >= begin + length, "it is early");
		}
		check_mode(true);
		if (!is_native)
			look(gettid(), &last);
		/* By the call that asks only. */
		check(last.left[PILLION_DUAL_LEFT_CALL] <= first.left[PILLION_DUAL_LEFT_CALL] + 1, "it went to Linux");
		to_primary();
		check(!set_to(file, 0, 10 * SECOND, 7, NULL), "set");
		check(!CALL2(SYS_timerfd_gettime, file, &before), "timerfd_gettime");
		check(ns_of(before.it_value) > 9 * SECOND && ns_of(before.it_interval) == 7, "what it is");
		check(!set_to(file, 0, 0, 5, &before), "stop");
		check(ns_of(before.it_value) > 9 * SECOND, "what was left");
		check(!CALL2(SYS_timerfd_gettime, file, &before), "timerfd_gettime");
		check(!ns_of(before.it_value) && ns_of(before.it_interval) == 5, "it is stopped");
		/* Long ago. */
		check(!set_to(file, TFD_TIMER_ABSTIME, now(clocks[clock]) - 95 * MILLISECOND, 10 * MILLISECOND, NULL), "set");
		value = taken(file);
		check(value >= 10 && value < 20, "%llu expirations", (unsigned long long)value);
		check_mode(true);
		/* What is wrong, Linux says. */
		check(set_to(file, 8, 0, 0, NULL) == -EINVAL, "a wrong flag");
		check(CALL4(SYS_timerfd_settime, file, 0, 8, NULL) == -EFAULT, "no time");
		check(set_to(file, 0, SECOND, 0, (void *)8) == -EFAULT, "nowhere for what it was");
		check(set_to(file, 0, SECOND, 0, (void *)((char *)odd + 4)) == 0, "what it was, not aligned");
		close(file);
	}
	/* One that others wait for: in primary mode and in Linux. */
	for (i = 0; i < 2; i++) {
		pair.files[0] = timer(CLOCK_MONOTONIC, 0);
		pair.done = 0;
		arm(pair.files[0], 0, 100 * SECOND, 0);
		other = begin_thread(i ? 0 : PRIORITY + 1, waits_for_timer, NULL);
		check(!sleep_for(CLOCK_MONOTONIC, 20 * MILLISECOND, NULL), "a sleep");
		check(!pair.done && !set_to(pair.files[0], 0, MILLISECOND, 0, &before), "set");
		check(ns_of(before.it_value) > 90 * SECOND, "what was left");
		check_mode(true);
		check(!pthread_join(other, NULL), "pthread_join");
		close(pair.files[0]);
	}
	check_entries(4);
}

/* More expirations at once than a timer of both sides has room to count, again and again. */
void timer_counts(void)
{
	/* 78 hours of nanoseconds are 2^48. */
	const int64_t long_ago = 3ll << 47;
	unsigned int i, round;

	enter();
	for (i = 0; i < 2; i++) {
		int file = timer(CLOCK_REALTIME, 0);
		int64_t begin = now(CLOCK_REALTIME), first = i ? 1 : begin - long_ago;
		struct itimerspec time;
		uint64_t sum = 0;

		arm(file, TFD_TIMER_ABSTIME, first, 1);
		for (round = 0; round < 4; round++) {
			to_primary();
			sum += taken(file);
			check(sum >= (uint64_t)(begin - first), "%llu are too few",
			      (unsigned long long)sum);
			check(sum <= (uint64_t)(now(CLOCK_REALTIME) - first) + 1,
			      "%llu are too many", (unsigned long long)sum);
			check(is_readable(file), "it expires all the time");
			check(!timerfd_gettime(file, &time), "timerfd_gettime");
			check(ns_of(time.it_interval) == 1, "the interval");
		}
		close(file);
	}
	check_entries(1);
}

static void reads_in_time(void)
{
	struct pollfd polled = { .events = POLLIN };
	int64_t first;
	int file;

	enter();
	file = timer(CLOCK_MONOTONIC, 0);
	polled.fd = file;
	first = now(CLOCK_MONOTONIC) + 20 * MILLISECOND;
	arm(file, TFD_TIMER_ABSTIME, first, 0);
	check(poll(&polled, 1, 10000) == 1, "it does not expire");
	check(taken(file) == 1 && now(CLOCK_MONOTONIC) >= first, "it is early");
	arm(file, 0, MILLISECOND, 0);
	check(taken(file) == 1, "a length of time");
}

/* A process with clocks of its own sets a timer by these. */
void timer_offsets(void)
{
	static const char offsets[] = "monotonic 1000 0\n";
	int file, status;
	pid_t child;

	check(!unshare(CLONE_NEWTIME), "unshare: %s", strerror(errno));
	file = open("/proc/self/timens_offsets", O_WRONLY);
	check(write(file, offsets, strlen(offsets)) == (ssize_t)strlen(offsets), "offsets: %s",
	      strerror(errno));
	close(file);
	child = fork();
	if (!child) {
		reads_in_time();
		_exit(0);
	}
	check(child > 0, "fork");
	status = status_of(child);
	check(!status, "the child's status is %x", status);
}
