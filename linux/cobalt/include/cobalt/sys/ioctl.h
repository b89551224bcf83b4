/* SPDX-License-Identifier: GPL-2.0-only */
#pragma GCC system_header
#include_next <sys/ioctl.h>

#ifndef _COBALT_SYS_IOCTL_H
#define _COBALT_SYS_IOCTL_H

#include <cobalt/wrappers.h>

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, ioctl(int file, unsigned long request, ...));

#ifdef __cplusplus
}
#endif

#endif
