// SPDX-License-Identifier: GPL-2.0-only
#include "heap.h"

#include <stdbool.h>

#define UNIT 16UL
#define FIRST_ROW 4
#define LIST_BITS 3

/* A block lies between two heads. The last head of a heap is that of an empty block in use. */
struct head {
	/* Bytes of the block, a multiple of UNIT; bit 0: it is free. */
	uint64_t size;
	/* Bytes of the block before it, 0 for the first. */
	uint64_t before;
	/* Of a free block. */
	struct link link;
};

#define HEAD offsetof(struct head, link)
#define FREE 1UL

_Static_assert(HEAD == UNIT && sizeof(struct link) == UNIT, "a block has room for a link");

static size_t size_of(const struct head *head)
{
	return head->size & ~FREE;
}

static struct head *next_of(const struct head *head)
{
	return (struct head *)((char *)head + HEAD + size_of(head));
}

static struct head *previous_of(const struct head *head)
{
	return (struct head *)((char *)head - head->before - HEAD);
}

struct place {
	unsigned int row;
	unsigned int list;
};

/* The lists in which free blocks of that size are. */
static struct place place_of(size_t size)
{
	unsigned int power = 63 - __builtin_clzl(size);

	if (power < FIRST_ROW + LIST_BITS)
		return (struct place){ 0, size / UNIT % PRIMARY_HEAP_LISTS };
	return (struct place){ power - FIRST_ROW - LIST_BITS + 1, (size >> (power - LIST_BITS)) % PRIMARY_HEAP_LISTS };
}

/* The smallest size all blocks of whose list, and of those after it, have room for this one. */
static size_t rounded(size_t size)
{
	unsigned int power = 63 - __builtin_clzl(size);

	if (power < FIRST_ROW + LIST_BITS)
		return size;
	return size + (1UL << (power - LIST_BITS)) - 1;
}

static void insert(struct primary_heap *heap, struct head *head, size_t size)
{
	struct place place = place_of(size);

	head->size = size | FREE;
	next_of(head)->before = size;
	link_before(&head->link, heap->unused[place.row][place.list].next);
	heap->lists[place.row] |= 1U << place.list;
	heap->rows |= 1U << place.row;
}

static void take_out(struct primary_heap *heap, struct head *head)
{
	struct place place = place_of(size_of(head));

	link_remove(&head->link);
	head->size = size_of(head);
	if (!link_alone(&heap->unused[place.row][place.list]))
		return;
	heap->lists[place.row] &= ~(1U << place.list);
	if (!heap->lists[place.row])
		heap->rows &= ~(1U << place.row);
}

size_t primary_heap_bytes(size_t size)
{
	size = (size + UNIT - 1) & -UNIT;
	return rounded(size ? size : UNIT) / UNIT * UNIT + UNIT + 2 * HEAD;
}

void primary_heap_init(struct primary_heap *heap, void *memory, size_t bytes)
{
	struct head *first = memory;
	unsigned int row, list;

	heap->memory = memory;
	heap->used = 0;
	heap->rows = 0;
	for (row = 0; row < PRIMARY_HEAP_ROWS; row++) {
		heap->lists[row] = 0;
		for (list = 0; list < PRIMARY_HEAP_LISTS; list++)
			link_init(&heap->unused[row][list]);
	}
	heap->size = ((bytes - 2 * HEAD) & -UNIT);
	first->size = heap->size;
	first->before = 0;
	next_of(first)->size = 0;
	insert(heap, first, heap->size);
}

/* A free block from a list, or from the next one that has some. */
static struct head *find(const struct primary_heap *heap, struct place place)
{
	unsigned int lists, rows;

	if (place.row >= PRIMARY_HEAP_ROWS)
		return NULL;
	lists = heap->lists[place.row] & (~0U << place.list);
	if (!lists) {
		rows = place.row + 1 < PRIMARY_HEAP_ROWS ? heap->rows & (~0U << (place.row + 1)) : 0;
		if (!rows)
			return NULL;
		place.row = __builtin_ctz(rows);
		lists = heap->lists[place.row];
	}
	return holder_of(heap->unused[place.row][__builtin_ctz(lists)].next, struct head, link);
}

void *primary_heap_alloc(struct primary_heap *heap, size_t size)
{
	struct head *head, *rest;

	if (size > heap->size)
		return NULL;
	size = size ? (size + UNIT - 1) & -UNIT : UNIT;
	head = find(heap, place_of(rounded(size)));
	if (!head)
		return NULL;
	take_out(heap, head);
	if (size_of(head) >= size + HEAD + UNIT) {
		size_t left = size_of(head) - size - HEAD;

		head->size = size;
		rest = next_of(head);
		rest->before = size;
		insert(heap, rest, left);
	}
	heap->used += size_of(head);
	return (char *)head + HEAD;
}

void primary_heap_free(struct primary_heap *heap, void *block)
{
	struct head *head = (struct head *)((char *)block - HEAD), *next = next_of(head);
	size_t size = size_of(head);

	heap->used -= size;
	if (next->size & FREE) {
		take_out(heap, next);
		size += HEAD + next->size;
	}
	if ((char *)head != heap->memory && previous_of(head)->size & FREE) {
		head = previous_of(head);
		take_out(heap, head);
		size += HEAD + head->size;
	}
	insert(heap, head, size);
}

size_t primary_heap_block(const struct primary_heap *heap, const void *block)
{
	const struct head *head = (const struct head *)((const char *)block - HEAD);
	uintptr_t offset = (const char *)block - heap->memory;
	bool is_one;

	if (offset < HEAD || offset > heap->size || offset % UNIT)
		return 0;
	is_one = head->size && !(head->size & FREE) && head->size <= heap->size - (offset - HEAD) &&
		 next_of(head)->before == head->size;
	return is_one ? head->size : 0;
}

size_t primary_heap_largest(const struct primary_heap *heap)
{
	unsigned int row, list;

	if (!heap->rows)
		return 0;
	row = 31 - __builtin_clz(heap->rows);
	list = 31 - __builtin_clz(heap->lists[row]);
	if (!row)
		return list * UNIT;
	return (8UL + list) << (row - 1 + FIRST_ROW);
}
