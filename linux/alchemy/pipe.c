// SPDX-License-Identifier: GPL-2.0-only
#include "primary/pipe.h"

#include <alchemy/pipe.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xenomai/tunables.h>

#include "object.h"
#include "primary/box.h"
#include "primary/lock.h"

/* Longest message that parts of a stream are joined to. */
#define STREAM 4096

struct pipe {
	struct alchemy_object object;
	struct primary_pipe *pipe;
	struct primary_box box;
	struct primary_heap *own;
	struct primary_heap *heap;
};

static const struct alchemy_kind kind = { "message pipe" };

/* The pool is the process's if no size is given. */
int rt_pipe_create(RT_PIPE *pipe, const char *name, int minor, size_t pool)
{
	struct pipe *made = calloc(1, sizeof(*made));
	int error = -ENOMEM;

	if (!made)
		return -ENOMEM;
	primary_box_init(&made->box, true);
	made->own = pool ? primary_heap_make(pool) : NULL;
	made->heap = pool ? made->own : primary_pool(__xenomai_settings.mem_pool_size);
	if (made->heap)
		error = primary_pipe_open(&made->pipe, minor, made->heap, &made->box, NULL, NULL);
	if (!error) {
		error = alchemy_add(&made->object, &kind, name, &pipe->handle);
		if (!error)
			return primary_pipe_number(made->pipe);
		primary_pipe_close(made->pipe);
	}
	free(made->own);
	free(made);
	return error;
}

int rt_pipe_delete(RT_PIPE *pipe)
{
	struct pipe *found = alchemy_enter(&kind, pipe->handle);

	if (!found)
		return -EINVAL;
	alchemy_remove(&found->object);
	primary_wake_all(&found->box.readers, -EIDRM);
	primary_unlock();
	/* Its threads are ordinary ones. */
	primary_pipe_close(found->pipe);
	primary_lock();
	primary_box_clear(&found->box);
	free(found->own);
	free(found);
	return alchemy_leave(0);
}

/* A message that is longer than the memory for it is lost. */
static ssize_t do_read(RT_PIPE *pipe, void *data, size_t size, struct primary_end end)
{
	struct pipe *found = alchemy_enter(&kind, pipe->handle);
	struct primary_message *message;
	ssize_t result;

	if (!found)
		return -EINVAL;
	result = primary_box_take(&found->box, &message, end);
	if (!result) {
		result = message->size <= size ? (ssize_t)message->size : -ENOBUFS;
		if (result > 0)
			memcpy(data, message->text, result);
		primary_message_put(message);
	}
	return alchemy_leave(result);
}

ssize_t rt_pipe_read_timed(RT_PIPE *pipe, void *data, size_t size, const struct timespec *end)
{
	return do_read(pipe, data, size, alchemy_at(end));
}

ssize_t rt_pipe_read_until(RT_PIPE *pipe, void *data, size_t size, RTIME end)
{
	return do_read(pipe, data, size, alchemy_until(end));
}

ssize_t rt_pipe_read(RT_PIPE *pipe, void *data, size_t size, RTIME timeout)
{
	return do_read(pipe, data, size, alchemy_after(timeout));
}

ssize_t rt_pipe_write(RT_PIPE *pipe, const void *data, size_t size, int mode)
{
	struct pipe *found = alchemy_enter(&kind, pipe->handle);
	struct primary_message *message;

	if (!found)
		return -EINVAL;
	if (mode & ~P_URGENT || size > PRIMARY_PIPE_MESSAGE)
		return alchemy_leave(-EINVAL);
	if (!size)
		return alchemy_leave(0);
	message = primary_message_make(found->heap, size);
	if (!message)
		return alchemy_leave(-ENOMEM);
	memcpy(message->text, data, size);
	primary_pipe_send(found->pipe, message, mode & P_URGENT);
	return alchemy_leave(size);
}

ssize_t rt_pipe_stream(RT_PIPE *pipe, const void *data, size_t size)
{
	struct pipe *found = alchemy_enter(&kind, pipe->handle);
	size_t done, piece;

	if (!found)
		return -EINVAL;
	for (done = 0; done < size; done += piece) {
		char *room;

		piece = size - done < STREAM ? size - done : STREAM;
		room = primary_pipe_extend(found->pipe, piece, STREAM);
		if (!room)
			return alchemy_leave(done ? (ssize_t)done : -ENOMEM);
		memcpy(room, (const char *)data + done, piece);
	}
	return alchemy_leave(size);
}

int rt_pipe_bind(RT_PIPE *pipe, const char *name, RTIME timeout)
{
	return alchemy_bind(&kind, name, timeout, &pipe->handle);
}

int rt_pipe_unbind(RT_PIPE *pipe)
{
	pipe->handle = 0;
	return 0;
}
