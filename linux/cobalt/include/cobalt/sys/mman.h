/* SPDX-License-Identifier: GPL-2.0-only */
#pragma GCC system_header
#include_next <sys/mman.h>

#ifndef _COBALT_SYS_MMAN_H
#define _COBALT_SYS_MMAN_H

#include <cobalt/wrappers.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(void *, mmap(void *at, size_t size, int protection, int flags, int file, off_t offset));
COBALT_DECL(void *, mmap64(void *at, size_t size, int protection, int flags, int file, off64_t offset));

#ifdef __cplusplus
}
#endif

#endif
