/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A heap in a given piece of memory. Blocks are found in a bounded time, whatever was allocated
 * before: free ones are in lists by their size, eight for each power of two, with a bit for each
 * list that has some. What uses it excludes others.
 */
#ifndef PRIMARY_HEAP_H
#define PRIMARY_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "list.h"

/* Powers of two, from 2^4 on, and lists for each. */
#define PRIMARY_HEAP_ROWS 32
#define PRIMARY_HEAP_LISTS 8

struct primary_heap {
	char *memory;
	size_t size;
	size_t used;
	uint32_t rows;
	uint8_t lists[PRIMARY_HEAP_ROWS];
	struct link unused[PRIMARY_HEAP_ROWS][PRIMARY_HEAP_LISTS];
};

/* Bytes of memory for a heap in which that many can be allocated at once. */
size_t primary_heap_bytes(size_t size);
void primary_heap_init(struct primary_heap *heap, void *memory, size_t bytes);
/* A block at a multiple of 16, or NULL. */
void *primary_heap_alloc(struct primary_heap *heap, size_t size);
void primary_heap_free(struct primary_heap *heap, void *block);
/* Bytes of a block; 0: the address is not that of an allocated block of the heap. */
size_t primary_heap_block(const struct primary_heap *heap, const void *block);
/* The largest block that can be allocated is at least this long. */
size_t primary_heap_largest(const struct primary_heap *heap);

#endif
