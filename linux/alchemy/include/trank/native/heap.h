/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_NATIVE_HEAP_H
#define _XENOMAI_TRANK_NATIVE_HEAP_H

#include <alchemy/heap.h>
#include <trank/native/types.h>

/* Blocks are shared in the process only, and Linux's. */
#ifndef H_SHARED
#define H_MAPPABLE 0
#define H_SHARED 0
#endif

#endif
