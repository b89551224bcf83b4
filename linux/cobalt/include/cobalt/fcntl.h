/* SPDX-License-Identifier: GPL-2.0-only */
#pragma GCC system_header
#include_next <fcntl.h>

#ifndef _COBALT_FCNTL_H
#define _COBALT_FCNTL_H

#include <cobalt/wrappers.h>

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, open(const char *path, int flags, ...));
COBALT_DECL(int, open64(const char *path, int flags, ...));
COBALT_DECL(int, fcntl(int file, int command, ...));

#ifdef __cplusplus
}
#endif

#endif
