// SPDX-License-Identifier: GPL-2.0-only
/* Heaps: each piece of memory is one of the skins', with its head in front. */
#include <errno.h>
#include <evl/heap.h>

#include "primary/heap.h"
#include "primary/lock.h"

#define UNIT 16UL

struct piece {
	struct piece *next;
	size_t bytes;
	struct primary_heap heap;
};

/* Where a piece's memory begins, and what may be lost before it for its alignment. */
#define HEAD ((sizeof(struct piece) + UNIT - 1) & -UNIT)
#define MARGIN (UNIT - 1)

/* What primary_heap_bytes() adds to a multiple of UNIT is an eighth, and at most 4 units. */
_Static_assert(EVL_HEAP_HEAD >= MARGIN + HEAD + 5 * UNIT, "a raw size has room for the head");

/* The place behind the last piece. */
static struct piece **end_of(struct evl_heap *heap)
{
	struct piece **place = (struct piece **)&heap->pieces;

	while (*place)
		place = &(*place)->next;
	return place;
}

int evl_extend_heap(struct evl_heap *heap, void *memory, size_t size)
{
	size_t lost = -(uintptr_t)memory % UNIT;
	struct piece *piece = (struct piece *)((char *)memory + lost);

	if (size < MARGIN + HEAD + primary_heap_bytes(UNIT))
		return -EINVAL;
	piece->next = NULL;
	piece->bytes = size;
	primary_heap_init(&piece->heap, (char *)piece + HEAD, (size - lost - HEAD) & -UNIT);
	primary_lock();
	*end_of(heap) = piece;
	primary_unlock();
	return 0;
}

int evl_init_heap(struct evl_heap *heap, void *memory, size_t size)
{
	heap->pieces = NULL;
	return evl_extend_heap(heap, memory, size);
}

void evl_destroy_heap(struct evl_heap *heap)
{
	heap->pieces = NULL;
}

void *evl_alloc_block(struct evl_heap *heap, size_t size)
{
	struct piece *piece = heap->pieces;
	void *block = NULL;

	primary_lock();
	for (; piece && !block; piece = piece->next)
		block = primary_heap_alloc(&piece->heap, size);
	primary_unlock();
	return block;
}

/* The piece that has allocated a block; NULL: none has. */
static struct piece *piece_of(const struct evl_heap *heap, const void *block)
{
	struct piece *piece = heap->pieces;

	while (piece && !primary_heap_block(&piece->heap, block))
		piece = piece->next;
	return piece;
}

int evl_free_block(struct evl_heap *heap, void *block)
{
	struct piece *piece;

	primary_lock();
	piece = piece_of(heap, block);
	if (piece)
		primary_heap_free(&piece->heap, block);
	primary_unlock();
	return piece ? 0 : -EINVAL;
}

ssize_t evl_check_block(struct evl_heap *heap, void *block)
{
	struct piece *piece;
	ssize_t size = -EINVAL;

	primary_lock();
	piece = piece_of(heap, block);
	if (piece)
		size = primary_heap_block(&piece->heap, block);
	primary_unlock();
	return size;
}

size_t evl_heap_raw_size(const struct evl_heap *heap)
{
	const struct piece *piece = heap->pieces;
	size_t sum = 0;

	for (; piece; piece = piece->next)
		sum += piece->bytes;
	return sum;
}

size_t evl_heap_size(const struct evl_heap *heap)
{
	const struct piece *piece = heap->pieces;
	size_t sum = 0;

	for (; piece; piece = piece->next)
		sum += piece->heap.size;
	return sum;
}

size_t evl_heap_used(const struct evl_heap *heap)
{
	const struct piece *piece = heap->pieces;
	size_t sum = 0;

	primary_lock();
	for (; piece; piece = piece->next)
		sum += piece->heap.used;
	primary_unlock();
	return sum;
}
