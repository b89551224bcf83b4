/* SPDX-License-Identifier: GPL-2.0-only */
#pragma GCC system_header
#include_next <sys/timerfd.h>

#ifndef _COBALT_SYS_TIMERFD_H
#define _COBALT_SYS_TIMERFD_H

#include <cobalt/wrappers.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, timerfd_create(int clock, int flags));
COBALT_DECL(int, timerfd_settime(int file, int flags, const struct itimerspec *value, struct itimerspec *old));
COBALT_DECL(int, timerfd_gettime(int file, struct itimerspec *value));

#ifdef __cplusplus
}
#endif

#endif
