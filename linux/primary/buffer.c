// SPDX-License-Identifier: GPL-2.0-only
#include "buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lock.h"

int primary_buffer_init(struct primary_buffer *buffer, size_t size, bool by_priority)
{
	memset(buffer, 0, sizeof(*buffer));
	buffer->memory = malloc(size);
	buffer->size = size;
	primary_queue_init(&buffer->readers, by_priority);
	primary_queue_init(&buffer->writers, by_priority);
	return buffer->memory ? 0 : -ENOMEM;
}

void primary_buffer_end(struct primary_buffer *buffer, int result)
{
	primary_wake_all(&buffer->readers, result);
	primary_wake_all(&buffer->writers, result);
	primary_free(buffer->memory);
	buffer->memory = NULL;
}

/* A thread that waits, and for how many bytes. */
static bool has_data(struct primary_wait *wait)
{
	const struct primary_buffer *buffer = wait->data;

	return buffer->used >= wait->value || (buffer->used && primary_first(&buffer->writers));
}

static bool has_room(struct primary_wait *wait)
{
	const struct primary_buffer *buffer = wait->data;

	return buffer->size - buffer->used >= wait->value;
}

static void take(struct primary_buffer *buffer, char *to, size_t size)
{
	size_t piece = buffer->size - buffer->first;

	if (piece > size)
		piece = size;
	memcpy(to, buffer->memory + buffer->first, piece);
	memcpy(to + piece, buffer->memory, size - piece);
	buffer->first = (buffer->first + size) % buffer->size;
	buffer->used -= size;
	primary_wake_some(&buffer->writers, has_room);
}

static void put(struct primary_buffer *buffer, const char *from, size_t size)
{
	size_t at = (buffer->first + buffer->used) % buffer->size, piece = buffer->size - at;

	if (piece > size)
		piece = size;
	memcpy(buffer->memory + at, from, piece);
	memcpy(buffer->memory, from + piece, size - piece);
	buffer->used += size;
	primary_wake_some(&buffer->readers, has_data);
}

void primary_buffer_clear(struct primary_buffer *buffer)
{
	buffer->used = 0;
	primary_wake_some(&buffer->writers, has_room);
}

ssize_t primary_buffer_read(struct primary_buffer *buffer, void *to, size_t size, struct primary_end end)
{
	struct primary_wait wait = { .data = buffer, .value = size };
	int error;

	if (size > buffer->size)
		return -EINVAL;
	while (!has_data(&wait)) {
		error = primary_wait(&buffer->readers, &wait, end);
		if (error)
			return error;
	}
	if (size > buffer->used)
		size = buffer->used;
	take(buffer, to, size);
	return size;
}

ssize_t primary_buffer_write(struct primary_buffer *buffer, const void *from, size_t size, struct primary_end end)
{
	struct primary_wait wait = { .data = buffer, .value = size };
	int error;

	if (size > buffer->size)
		return -EINVAL;
	while (!has_room(&wait)) {
		/* Readers that wait for more than will come look again, and get what there is. */
		if (end.clock != PRIMARY_AT_ONCE)
			primary_wake_all(&buffer->readers, 0);
		error = primary_wait(&buffer->writers, &wait, end);
		if (error)
			return error;
	}
	put(buffer, from, size);
	return size;
}
