/* SPDX-License-Identifier: GPL-2.0-only */
/* Buffers of bytes between threads. The lock guards them. */
#ifndef PRIMARY_BUFFER_H
#define PRIMARY_BUFFER_H

#include <sys/types.h>

#include "wait.h"

struct primary_buffer {
	char *memory;
	size_t size;
	size_t used;
	size_t first;
	struct primary_queue readers;
	struct primary_queue writers;
};

/* Returns 0 or -ENOMEM. */
int primary_buffer_init(struct primary_buffer *buffer, size_t size, bool by_priority);
/* Ends the waits of threads with a result. */
void primary_buffer_end(struct primary_buffer *buffer, int result);
void primary_buffer_clear(struct primary_buffer *buffer);

/*
 * Reads that many bytes, waiting for all of them; fewer if a writer waits for room, which would
 * never come. Returns how many, or an error: EINVAL if the buffer is smaller.
 */
ssize_t primary_buffer_read(struct primary_buffer *buffer, void *to, size_t size, struct primary_end end);
/* Writes all of them, waiting for room. */
ssize_t primary_buffer_write(struct primary_buffer *buffer, const void *from, size_t size, struct primary_end end);

#endif
