/* SPDX-License-Identifier: GPL-2.0-only */
#pragma GCC system_header
#include_next <stdlib.h>

#ifndef _COBALT_STDLIB_H
#define _COBALT_STDLIB_H

#include <cobalt/wrappers.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory is the C library's: it may lead to Linux. */
COBALT_DECL(void, free(void *memory));
COBALT_DECL(void *, malloc(size_t size));

#ifdef __cplusplus
}
#endif

#endif
