/* SPDX-License-Identifier: GPL-2.0-only */
/* Boxes of messages in the process's memory. The lock guards them. */
#ifndef PRIMARY_BOX_H
#define PRIMARY_BOX_H

#include <stdbool.h>
#include <sys/types.h>

#include "heap.h"
#include "wait.h"

struct primary_message {
	struct link link;
	struct primary_heap *heap;
	size_t size;
	/* Who sent it, as its users have it. */
	int from;
	/* How many hold it. */
	unsigned int references;
	_Alignas(16) char text[];
};

struct primary_box {
	struct link messages;
	unsigned int count;
	/* Bytes of text. */
	size_t bytes;
	struct primary_queue readers;
};

/*
 * The memory for messages: that of a heap of its own, or the process's pool, of which the first
 * call says how large it is.
 */
struct primary_heap *primary_pool(size_t size);
struct primary_heap *primary_heap_make(size_t size);

/* A message with room for that many bytes and one reference, or NULL. */
struct primary_message *primary_message_make(struct primary_heap *heap, size_t size);
void primary_message_put(struct primary_message *message);

void primary_box_init(struct primary_box *box, bool by_priority);
/* Ends the waits of threads with a result, and frees what is in the box. */
void primary_box_end(struct primary_box *box, int result);
/* Frees what is in it. Returns how many messages that were. */
unsigned int primary_box_clear(struct primary_box *box);

/* Gives a message to the first thread that waits, or puts it into the box: last, or first. */
void primary_box_put(struct primary_box *box, struct primary_message *message, bool is_urgent);
/* Takes the first message, waiting for one. Returns 0 or an error. */
int primary_box_take(struct primary_box *box, struct primary_message **message, struct primary_end end);

#endif
