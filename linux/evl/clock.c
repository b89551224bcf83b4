// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <evl/clock.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "primary/thread.h"
#include "threads.h"

int evl_read_clock(int clockfd, struct timespec *now)
{
	clockid_t clock;

	if (!evl_clock(clockfd, &clock))
		return -EBADF;
	return primary_read_clock(clock, now) ? -errno : 0;
}

int evl_set_clock(int clockfd, const struct timespec *now)
{
	clockid_t clock;

	if (!evl_clock(clockfd, &clock))
		return -EBADF;
	return syscall(SYS_clock_settime, clock, now) ? -errno : 0;
}

int evl_get_clock_resolution(int clockfd, struct timespec *resolution)
{
	clockid_t clock;

	if (!evl_clock(clockfd, &clock))
		return -EBADF;
	return syscall(SYS_clock_getres, clock, resolution) ? -errno : 0;
}

int evl_adjust_clock(int clockfd, struct timex *timex)
{
	clockid_t clock;
	int state;

	if (!evl_clock(clockfd, &clock))
		return -EBADF;
	state = syscall(SYS_clock_adjtime, clock, timex);
	return state < 0 ? -errno : state;
}

int evl_sleep_until(int clockfd, const struct timespec *timeout)
{
	clockid_t clock;

	if (!evl_clock(clockfd, &clock))
		return -EBADF;
	if (primary_ns(timeout) < 0)
		return -EINVAL;
	if (!evl_current)
		return -EPERM;
	evl_sleeps();
	return primary_sleep_until(clock, primary_ns(timeout));
}

int evl_usleep(useconds_t us)
{
	int64_t end = primary_now(CLOCK_MONOTONIC) + us * 1000LL;

	if (!evl_current)
		return -EPERM;
	evl_sleeps();
	return primary_sleep_until(CLOCK_MONOTONIC, end);
}
