// SPDX-License-Identifier: GPL-2.0-only
#include <alchemy/heap.h>
#include <errno.h>
#include <stdlib.h>

#include "object.h"
#include "primary/box.h"
#include "primary/lock.h"

struct heap {
	struct alchemy_object object;
	struct primary_heap *memory;
	struct primary_queue waiters;
	size_t size;
	int mode;
	/* Of H_SINGLE: the only block, once somebody has it. */
	void *block;
};

/* What a task waits for. */
struct wish {
	struct heap *heap;
	size_t size;
	void *block;
};

static const struct alchemy_kind kind = { "heap" };

int rt_heap_create(RT_HEAP *heap, const char *name, size_t size, int mode)
{
	struct heap *made;
	int error = -ENOMEM;

	if (!size || mode & ~(H_PRIO | H_SINGLE))
		return -EINVAL;
	made = calloc(1, sizeof(*made));
	if (made)
		made->memory = primary_heap_make(size);
	if (made && made->memory) {
		primary_queue_init(&made->waiters, mode & H_PRIO);
		made->size = size;
		made->mode = mode;
		error = alchemy_add(&made->object, &kind, name, &heap->handle);
	}
	if (error && made) {
		free(made->memory);
		free(made);
	}
	return error;
}

int rt_heap_delete(RT_HEAP *heap)
{
	struct heap *found = alchemy_enter(&kind, heap->handle);

	if (!found)
		return -EINVAL;
	primary_wake_all(&found->waiters, -EIDRM);
	alchemy_remove(&found->object);
	free(found->memory);
	free(found);
	return alchemy_leave(0);
}

static void *take(struct heap *heap, size_t size)
{
	if (!(heap->mode & H_SINGLE))
		return primary_heap_alloc(heap->memory, size);
	if (!heap->block)
		heap->block = primary_heap_alloc(heap->memory, heap->size);
	return heap->block;
}

/* Whether a task has its block. */
static bool gets(struct primary_wait *wait)
{
	struct wish *wish = wait->data;

	wish->block = take(wish->heap, wish->size);
	return wish->block;
}

static void give_back(struct primary_wait *wait)
{
	struct wish *wish = wait->data;

	primary_heap_free(wish->heap->memory, wish->block);
	primary_wake_some(&wish->heap->waiters, gets);
}

static int do_alloc(RT_HEAP *heap, size_t size, struct primary_end end, void **block)
{
	struct heap *found = alchemy_enter(&kind, heap->handle);
	struct wish wish = { found, size, NULL };
	struct primary_wait wait = { .data = &wish, .give_back = give_back };
	int error = 0;

	if (!found)
		return -EINVAL;
	if (size > found->size || (found->mode & H_SINGLE && size && size != found->size))
		return alchemy_leave(-EINVAL);
	if (!gets(&wait))
		error = primary_wait(&found->waiters, &wait, end);
	*block = error ? NULL : wish.block;
	return alchemy_leave(error);
}

int rt_heap_alloc_timed(RT_HEAP *heap, size_t size, const struct timespec *end, void **block)
{
	return do_alloc(heap, size, alchemy_at(end), block);
}

int rt_heap_alloc_until(RT_HEAP *heap, size_t size, RTIME end, void **block)
{
	return do_alloc(heap, size, alchemy_until(end), block);
}

int rt_heap_alloc(RT_HEAP *heap, size_t size, RTIME timeout, void **block)
{
	return do_alloc(heap, size, alchemy_after(timeout), block);
}

/* The only block of a heap stays with all that have it. */
int rt_heap_free(RT_HEAP *heap, void *block)
{
	struct heap *found = alchemy_enter(&kind, heap->handle);

	if (!found)
		return -EINVAL;
	if (!primary_heap_block(found->memory, block))
		return alchemy_leave(-EINVAL);
	if (!(found->mode & H_SINGLE)) {
		primary_heap_free(found->memory, block);
		primary_wake_some(&found->waiters, gets);
	}
	return alchemy_leave(0);
}

int rt_heap_inquire(RT_HEAP *heap, RT_HEAP_INFO *info)
{
	struct heap *found = alchemy_enter(&kind, heap->handle);

	if (!found)
		return -EINVAL;
	info->nwaiters = primary_count(&found->waiters);
	info->mode = found->mode;
	info->heapsize = found->size;
	info->usablemem = found->memory->size;
	info->usedmem = found->memory->used;
	alchemy_tell_name(&found->object, info->name);
	return alchemy_leave(0);
}

int rt_heap_bind(RT_HEAP *heap, const char *name, RTIME timeout)
{
	return alchemy_bind(&kind, name, timeout, &heap->handle);
}

int rt_heap_unbind(RT_HEAP *heap)
{
	heap->handle = 0;
	return 0;
}
