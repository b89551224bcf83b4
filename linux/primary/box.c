// SPDX-License-Identifier: GPL-2.0-only
#include "box.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct primary_heap *primary_heap_make(size_t size)
{
	size_t bytes = primary_heap_bytes(size), head = (sizeof(struct primary_heap) + 15) & ~15UL;
	char *memory = aligned_alloc(16, head + bytes);

	if (!memory)
		return NULL;
	/* No page is to be touched for the first time by a thread in primary mode. */
	memset(memory, 0, head + bytes);
	primary_heap_init((struct primary_heap *)memory, memory + head, bytes);
	return (struct primary_heap *)memory;
}

struct primary_heap *primary_pool(size_t size)
{
	static struct primary_heap *pool;

	if (!pool)
		pool = primary_heap_make(size);
	return pool;
}

struct primary_message *primary_message_make(struct primary_heap *heap, size_t size)
{
	struct primary_message *message = primary_heap_alloc(heap, sizeof(*message) + size);

	if (!message)
		return NULL;
	link_init(&message->link);
	message->heap = heap;
	message->size = size;
	message->from = -1;
	message->references = 1;
	return message;
}

void primary_message_put(struct primary_message *message)
{
	if (!--message->references)
		primary_heap_free(message->heap, message);
}

void primary_box_init(struct primary_box *box, bool by_priority)
{
	link_init(&box->messages);
	box->count = 0;
	box->bytes = 0;
	primary_queue_init(&box->readers, by_priority);
}

static struct primary_message *take_first(struct primary_box *box)
{
	struct primary_message *message = holder_of(box->messages.next, struct primary_message, link);

	link_remove(&message->link);
	box->count--;
	box->bytes -= message->size;
	return message;
}

unsigned int primary_box_clear(struct primary_box *box)
{
	unsigned int count = box->count;

	while (box->count)
		primary_message_put(take_first(box));
	return count;
}

void primary_box_end(struct primary_box *box, int result)
{
	primary_wake_all(&box->readers, result);
	primary_box_clear(box);
}

static void insert(struct primary_box *box, struct primary_message *message, bool is_first)
{
	link_before(&message->link, is_first ? box->messages.next : &box->messages);
	box->count++;
	box->bytes += message->size;
}

void primary_box_put(struct primary_box *box, struct primary_message *message, bool is_urgent)
{
	struct primary_wait *first = primary_first(&box->readers);

	if (first) {
		first->value = (uintptr_t)message;
		primary_wake(first, 0);
	} else {
		insert(box, message, is_urgent);
	}
}

/* A thread that is cancelled gives its message to another one. */
static void give_back(struct primary_wait *wait)
{
	primary_box_put(wait->data, (struct primary_message *)wait->value, true);
}

int primary_box_take(struct primary_box *box, struct primary_message **message, struct primary_end end)
{
	struct primary_wait wait = { .data = box, .give_back = give_back };
	int error = 0;

	if (box->count) {
		*message = take_first(box);
		return 0;
	}
	error = primary_wait(&box->readers, &wait, end);
	if (!error)
		*message = (struct primary_message *)wait.value;
	return error;
}
