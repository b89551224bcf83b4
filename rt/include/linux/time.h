/* Time. */
#ifndef LINUX_TIME_H
#define LINUX_TIME_H

#define __NEED_time_t
#define __NEED_suseconds_t
#define __NEED_struct_timeval
#define __NEED_struct_timespec
#include <bits/alltypes.h>
#include <linux/jiffies.h>

#ifdef __cplusplus
extern "C" {
#endif

struct timezone {
	int tz_minuteswest, tz_dsttime;
};

struct itimerval {
	struct timeval it_interval, it_value;
};

void do_gettimeofday(struct timeval *time);

#ifdef __cplusplus
}
#endif

#endif
