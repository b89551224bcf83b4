/* SPDX-License-Identifier: GPL-2.0-only */
/* Timers. oob_read of a __u64 waits for one, and tells how often it has expired. */
#ifndef _EVL_TIMER_H
#define _EVL_TIMER_H

#include <evl/factory.h>

#ifdef __cplusplus
extern "C" {
#endif

int evl_new_timer(int clockfd);
/* The first time is one of the clock; 0 stops it. */
int evl_set_timer(int efd, const struct itimerspec *value, struct itimerspec *old);
/* Tells the time until it expires next. */
int evl_get_timer(int efd, struct itimerspec *value);

#ifdef __cplusplus
}
#endif

#endif
