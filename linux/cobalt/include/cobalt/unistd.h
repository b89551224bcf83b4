/* SPDX-License-Identifier: GPL-2.0-only */
#pragma GCC system_header
#include_next <unistd.h>

#ifndef _COBALT_UNISTD_H
#define _COBALT_UNISTD_H

#include <cobalt/wrappers.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(ssize_t, read(int file, void *buffer, size_t size));
COBALT_DECL(ssize_t, write(int file, const void *buffer, size_t size));
COBALT_DECL(int, close(int file));
COBALT_DECL(unsigned int, sleep(unsigned int seconds));
COBALT_DECL(int, usleep(useconds_t microseconds));

#ifdef __cplusplus
}
#endif

#endif
