/* SPDX-License-Identifier: GPL-2.0-only */
/* Clocks. */
#include_next <time.h>

#if !defined(_COBALT_TIME_H) && defined(CLOCK_MONOTONIC)
#define _COBALT_TIME_H

#include <cobalt/wrappers.h>

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, clock_gettime(clockid_t clock, struct timespec *time));
COBALT_DECL(time_t, time(time_t *time));

#ifdef __cplusplus
}
#endif

#endif
