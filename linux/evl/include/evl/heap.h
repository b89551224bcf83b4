/* SPDX-License-Identifier: GPL-2.0-only */
/* Heaps in memory that the program gives. */
#ifndef _EVL_HEAP_H
#define _EVL_HEAP_H

#include <evl/factory.h>

struct evl_heap {
	/* Pieces of memory, the first one first. */
	void *pieces;
};

/*
 * Bytes of memory for a heap in which that many can be allocated at once: blocks are rounded up by
 * an eighth at most, and the heap has a head.
 */
#define EVL_HEAP_RAW_SIZE(size) ((size) + (size) / 8 + EVL_HEAP_HEAD)
#define EVL_HEAP_HEAD 4352

#ifdef __cplusplus
extern "C" {
#endif

int evl_init_heap(struct evl_heap *heap, void *memory, size_t size);
int evl_extend_heap(struct evl_heap *heap, void *memory, size_t size);
void evl_destroy_heap(struct evl_heap *heap);
void *evl_alloc_block(struct evl_heap *heap, size_t size);
int evl_free_block(struct evl_heap *heap, void *block);
ssize_t evl_check_block(struct evl_heap *heap, void *block);
/* Bytes of memory; of those, bytes that can be allocated, and that are. */
size_t evl_heap_raw_size(const struct evl_heap *heap);
size_t evl_heap_size(const struct evl_heap *heap);
size_t evl_heap_used(const struct evl_heap *heap);

#ifdef __cplusplus
}
#endif

#endif
