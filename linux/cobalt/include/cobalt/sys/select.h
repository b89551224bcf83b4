/* SPDX-License-Identifier: GPL-2.0-only */
#pragma GCC system_header
#include_next <sys/select.h>

#ifndef _COBALT_SYS_SELECT_H
#define _COBALT_SYS_SELECT_H

#include <cobalt/wrappers.h>

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, select(int count, fd_set *__restrict__ readable, fd_set *__restrict__ writable,
			fd_set *__restrict__ exceptional, struct timeval *__restrict__ timeout));

#ifdef __cplusplus
}
#endif

#endif
