/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory for tasks, in which they can wait for a block. */
#ifndef _ALCHEMY_HEAP_H
#define _ALCHEMY_HEAP_H

#include <alchemy/timer.h>
#include <sys/types.h>

#ifndef XNOBJECT_NAME_LEN
#define XNOBJECT_NAME_LEN 32
#endif

/* With H_SINGLE, all of the heap is one block, which every task gets. */
#define H_FIFO 0x0
#define H_PRIO 0x1
#define H_SINGLE 0x4

typedef struct RT_HEAP {
	uintptr_t handle;
} RT_HEAP;

typedef struct rt_heap_info {
	int nwaiters;
	int mode;
	size_t heapsize;
	size_t usablemem;
	size_t usedmem;
	char name[XNOBJECT_NAME_LEN];
} RT_HEAP_INFO;

#ifdef __cplusplus
extern "C" {
#endif

int rt_heap_create(RT_HEAP *heap, const char *name, size_t size, int mode);
int rt_heap_delete(RT_HEAP *heap);
int rt_heap_alloc_timed(RT_HEAP *heap, size_t size, const struct timespec *end, void **block);
int rt_heap_alloc_until(RT_HEAP *heap, size_t size, RTIME end, void **block);
int rt_heap_alloc(RT_HEAP *heap, size_t size, RTIME timeout, void **block);
int rt_heap_free(RT_HEAP *heap, void *block);
int rt_heap_inquire(RT_HEAP *heap, RT_HEAP_INFO *info);
int rt_heap_bind(RT_HEAP *heap, const char *name, RTIME timeout);
int rt_heap_unbind(RT_HEAP *heap);

#ifdef __cplusplus
}
#endif

#endif
