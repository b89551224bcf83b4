// SPDX-License-Identifier: GPL-2.0-only
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"
#include "primary/wait.h"

WRAP(int, clock_getres, clockid_t clock, struct timespec *resolution)
{
	return __real_clock_getres(clock, resolution);
}

WRAP(int, clock_gettime, clockid_t clock, struct timespec *time)
{
	return primary_read_clock(clock, time);
}

WRAP(int, clock_settime, clockid_t clock, const struct timespec *time)
{
	return __real_clock_settime(clock, time);
}

WRAP(int, clock_adjtime, clockid_t clock, struct timex *change)
{
	return __real_clock_adjtime(clock, change);
}

WRAP(int, gettimeofday, struct timeval *time, void *zone)
{
	return primary_avoids_vdso() ? syscall(SYS_gettimeofday, time, zone) : __real_gettimeofday(time, zone);
}

WRAP(time_t, time, time_t *time)
{
	struct timespec now;

	/* The vDSO's is that of Linux's last tick. */
	if (!primary_is_there())
		return __real_time(time);
	primary_read_clock(CLOCK_REALTIME, &now);
	if (time)
		*time = now.tv_sec;
	return now.tv_sec;
}

WRAP(int, clock_nanosleep, clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
	int error = -primary_may_sleep();

	if (error && rest && !(flags & TIMER_ABSTIME))
		*rest = *time;
	return error ? error : __real_clock_nanosleep(clock, flags, time, rest);
}

WRAP(int, nanosleep, const struct timespec *time, struct timespec *rest)
{
	int error = primary_may_sleep();

	if (error && rest)
		*rest = *time;
	return error ? cobalt_told(error) : __real_nanosleep(time, rest);
}

WRAP(unsigned int, sleep, unsigned int seconds)
{
	return primary_may_sleep() ? seconds : __real_sleep(seconds);
}

WRAP(int, usleep, useconds_t microseconds)
{
	int error = primary_may_sleep();

	return error ? cobalt_told(error) : __real_usleep(microseconds);
}
