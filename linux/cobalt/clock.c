// SPDX-License-Identifier: GPL-2.0-only
/* Clocks are read by system calls: the vDSO's readers wait for Linux. */
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "internal.h"

WRAP(int, clock_gettime, clockid_t clock, struct timespec *time)
{
	return cobalt_is_there() ? syscall(SYS_clock_gettime, clock, time) : __real_clock_gettime(clock, time);
}

WRAP(int, gettimeofday, struct timeval *time, void *zone)
{
	return cobalt_is_there() ? syscall(SYS_gettimeofday, time, zone) : __real_gettimeofday(time, zone);
}

WRAP(time_t, time, time_t *time)
{
	struct timespec now;

	if (!cobalt_is_there())
		return __real_time(time);
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
	if (time)
		*time = now.tv_sec;
	return now.tv_sec;
}
