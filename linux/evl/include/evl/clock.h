/* SPDX-License-Identifier: GPL-2.0-only */
/* Clocks: EVL_CLOCK_MONOTONIC and EVL_CLOCK_REALTIME, which are Linux's. */
#ifndef _EVL_CLOCK_H
#define _EVL_CLOCK_H

#include <evl/factory.h>
#include <sys/timex.h>

#ifdef __cplusplus
extern "C" {
#endif

int evl_read_clock(int clockfd, struct timespec *now);
int evl_set_clock(int clockfd, const struct timespec *now);
int evl_get_clock_resolution(int clockfd, struct timespec *resolution);
int evl_adjust_clock(int clockfd, struct timex *timex);
/* Sleeps until a time of a clock; for some microseconds. */
int evl_sleep_until(int clockfd, const struct timespec *timeout);
int evl_usleep(useconds_t us);

#ifdef __cplusplus
}
#endif

#endif
