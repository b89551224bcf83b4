/* SPDX-License-Identifier: GPL-2.0-only */
#pragma GCC system_header
#include_next <sys/time.h>

#ifndef _COBALT_SYS_TIME_H
#define _COBALT_SYS_TIME_H

#include <cobalt/wrappers.h>

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, gettimeofday(struct timeval *time, void *zone));

#ifdef __cplusplus
}
#endif

#endif
