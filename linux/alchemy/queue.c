// SPDX-License-Identifier: GPL-2.0-only
#include <alchemy/queue.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"
#include "primary/box.h"
#include "primary/lock.h"

/* Bytes of memory beside a message's text, at most. */
#define HEAD (2 * sizeof(struct primary_message))

struct queue {
	struct alchemy_object object;
	struct primary_heap *memory;
	struct primary_box box;
	size_t pool;
	size_t limit;
	int mode;
};

static const struct alchemy_kind kind = { "queue" };

/* The pool is for texts; what else a message needs is there as well, for as many as may be. */
int rt_queue_create(RT_QUEUE *queue, const char *name, size_t pool, size_t limit, int mode)
{
	struct queue *made;
	int error = -ENOMEM;

	if (!pool || mode & ~Q_PRIO)
		return -EINVAL;
	made = calloc(1, sizeof(*made));
	if (made)
		made->memory = primary_heap_make(pool + (limit ? limit : pool / 64 + 1) * HEAD);
	if (made && made->memory) {
		primary_box_init(&made->box, mode & Q_PRIO);
		made->pool = pool;
		made->limit = limit;
		made->mode = mode;
		error = alchemy_add(&made->object, &kind, name, &queue->handle);
	}
	if (error && made) {
		free(made->memory);
		free(made);
	}
	return error;
}

int rt_queue_delete(RT_QUEUE *queue)
{
	struct queue *found = alchemy_enter(&kind, queue->handle);

	if (!found)
		return -EINVAL;
	primary_wake_all(&found->box.readers, -EIDRM);
	alchemy_remove(&found->object);
	free(found->memory);
	free(found);
	return alchemy_leave(0);
}

/* The message whose text is at an address; NULL: there is none. */
static struct primary_message *message_at(const struct queue *queue, const void *text)
{
	struct primary_message *message = holder_of(text, struct primary_message, text);

	return text && primary_heap_block(queue->memory, message) && message->references ? message : NULL;
}

void *rt_queue_alloc(RT_QUEUE *queue, size_t size)
{
	struct queue *found = alchemy_enter(&kind, queue->handle);
	struct primary_message *message;

	if (!found)
		return NULL;
	message = primary_message_make(found->memory, size);
	primary_unlock();
	return message ? message->text : NULL;
}

int rt_queue_free(RT_QUEUE *queue, void *buffer)
{
	struct queue *found = alchemy_enter(&kind, queue->handle);
	struct primary_message *message;

	if (!found)
		return -EINVAL;
	message = message_at(found, buffer);
	if (message)
		primary_message_put(message);
	return alchemy_leave(message ? 0 : -EINVAL);
}

/* Sends a message, to one task or to all that wait. Returns how many those were. */
static int do_send(struct queue *queue, struct primary_message *message, int mode)
{
	unsigned int waiters = primary_count(&queue->box.readers), i;

	if (!(mode & Q_BROADCAST)) {
		if (!waiters && queue->limit && queue->box.count >= queue->limit)
			return -ENOMEM;
		primary_box_put(&queue->box, message, mode & Q_URGENT);
		return waiters ? 1 : 0;
	}
	/* Each of them has it; nobody else gets it later. */
	message->references += waiters;
	for (i = 0; i < waiters; i++)
		primary_box_put(&queue->box, message, false);
	primary_message_put(message);
	return waiters;
}

int rt_queue_send(RT_QUEUE *queue, const void *buffer, size_t size, int mode)
{
	struct queue *found = alchemy_enter(&kind, queue->handle);
	struct primary_message *message;

	if (!found)
		return -EINVAL;
	message = message_at(found, buffer);
	if (!message || mode & ~(Q_URGENT | Q_BROADCAST))
		return alchemy_leave(-EINVAL);
	if (size > primary_heap_block(found->memory, message) - sizeof(*message))
		return alchemy_leave(-EINVAL);
	message->size = size;
	return alchemy_leave(do_send(found, message, mode));
}

int rt_queue_write(RT_QUEUE *queue, const void *data, size_t size, int mode)
{
	struct queue *found = alchemy_enter(&kind, queue->handle);
	struct primary_message *message;
	int result;

	if (!found)
		return -EINVAL;
	if (mode & ~(Q_URGENT | Q_BROADCAST))
		return alchemy_leave(-EINVAL);
	message = primary_message_make(found->memory, size);
	if (!message)
		return alchemy_leave(-ENOMEM);
	memcpy(message->text, data, size);
	result = do_send(found, message, mode);
	if (result < 0)
		primary_message_put(message);
	return alchemy_leave(result);
}

static ssize_t do_receive(RT_QUEUE *queue, void **buffer, struct primary_end end)
{
	struct queue *found = alchemy_enter(&kind, queue->handle);
	struct primary_message *message;
	ssize_t result;

	if (!found)
		return -EINVAL;
	result = primary_box_take(&found->box, &message, end);
	if (!result) {
		*buffer = message->text;
		result = message->size;
	}
	return alchemy_leave(result);
}

ssize_t rt_queue_receive_timed(RT_QUEUE *queue, void **buffer, const struct timespec *end)
{
	return do_receive(queue, buffer, alchemy_at(end));
}

ssize_t rt_queue_receive_until(RT_QUEUE *queue, void **buffer, RTIME end)
{
	return do_receive(queue, buffer, alchemy_until(end));
}

ssize_t rt_queue_receive(RT_QUEUE *queue, void **buffer, RTIME timeout)
{
	return do_receive(queue, buffer, alchemy_after(timeout));
}

/* Of a longer message, the rest is lost. */
static ssize_t do_read(RT_QUEUE *queue, void *data, size_t size, struct primary_end end)
{
	struct queue *found = alchemy_enter(&kind, queue->handle);
	struct primary_message *message;
	ssize_t result;

	if (!found)
		return -EINVAL;
	result = primary_box_take(&found->box, &message, end);
	if (!result) {
		result = message->size < size ? message->size : size;
		memcpy(data, message->text, result);
		primary_message_put(message);
	}
	return alchemy_leave(result);
}

ssize_t rt_queue_read_timed(RT_QUEUE *queue, void *data, size_t size, const struct timespec *end)
{
	return do_read(queue, data, size, alchemy_at(end));
}

ssize_t rt_queue_read_until(RT_QUEUE *queue, void *data, size_t size, RTIME end)
{
	return do_read(queue, data, size, alchemy_until(end));
}

ssize_t rt_queue_read(RT_QUEUE *queue, void *data, size_t size, RTIME timeout)
{
	return do_read(queue, data, size, alchemy_after(timeout));
}

int rt_queue_flush(RT_QUEUE *queue)
{
	struct queue *found = alchemy_enter(&kind, queue->handle);

	return found ? alchemy_leave(primary_box_clear(&found->box)) : -EINVAL;
}

int rt_queue_inquire(RT_QUEUE *queue, RT_QUEUE_INFO *info)
{
	struct queue *found = alchemy_enter(&kind, queue->handle);

	if (!found)
		return -EINVAL;
	info->nwaiters = primary_count(&found->box.readers);
	info->nmessages = found->box.count;
	info->mode = found->mode;
	info->qlimit = found->limit;
	info->poolsize = found->pool;
	info->usedmem = found->memory->used;
	alchemy_tell_name(&found->object, info->name);
	return alchemy_leave(0);
}

int rt_queue_bind(RT_QUEUE *queue, const char *name, RTIME timeout)
{
	return alchemy_bind(&kind, name, timeout, &queue->handle);
}

int rt_queue_unbind(RT_QUEUE *queue)
{
	queue->handle = 0;
	return 0;
}
