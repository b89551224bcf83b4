// SPDX-License-Identifier: GPL-2.0-only
#include <alchemy/buffer.h>
#include <errno.h>
#include <stdlib.h>

#include "object.h"
#include "primary/buffer.h"
#include "primary/lock.h"

struct buffer {
	struct alchemy_object object;
	struct primary_buffer bytes;
};

static const struct alchemy_kind kind = { "buffer" };

int rt_buffer_create(RT_BUFFER *buffer, const char *name, size_t size, int mode)
{
	struct buffer *made;
	int error;

	if (!size || mode & ~B_PRIO)
		return -EINVAL;
	made = malloc(sizeof(*made));
	if (!made)
		return -ENOMEM;
	error = primary_buffer_init(&made->bytes, size, mode & B_PRIO);
	if (!error)
		error = alchemy_add(&made->object, &kind, name, &buffer->handle);
	if (error) {
		free(made->bytes.memory);
		free(made);
	}
	return error;
}

int rt_buffer_delete(RT_BUFFER *buffer)
{
	struct buffer *found = alchemy_enter(&kind, buffer->handle);

	if (!found)
		return -EINVAL;
	primary_buffer_end(&found->bytes, -EIDRM);
	alchemy_remove(&found->object);
	free(found);
	return alchemy_leave(0);
}

static ssize_t do_write(RT_BUFFER *buffer, const void *data, size_t size, struct primary_end end)
{
	struct buffer *found = alchemy_enter(&kind, buffer->handle);

	return found ? alchemy_leave(primary_buffer_write(&found->bytes, data, size, end)) : -EINVAL;
}

ssize_t rt_buffer_write_timed(RT_BUFFER *buffer, const void *data, size_t size, const struct timespec *end)
{
	return do_write(buffer, data, size, alchemy_at(end));
}

ssize_t rt_buffer_write_until(RT_BUFFER *buffer, const void *data, size_t size, RTIME end)
{
	return do_write(buffer, data, size, alchemy_until(end));
}

ssize_t rt_buffer_write(RT_BUFFER *buffer, const void *data, size_t size, RTIME timeout)
{
	return do_write(buffer, data, size, alchemy_after(timeout));
}

static ssize_t do_read(RT_BUFFER *buffer, void *data, size_t size, struct primary_end end)
{
	struct buffer *found = alchemy_enter(&kind, buffer->handle);

	return found ? alchemy_leave(primary_buffer_read(&found->bytes, data, size, end)) : -EINVAL;
}

ssize_t rt_buffer_read_timed(RT_BUFFER *buffer, void *data, size_t size, const struct timespec *end)
{
	return do_read(buffer, data, size, alchemy_at(end));
}

ssize_t rt_buffer_read_until(RT_BUFFER *buffer, void *data, size_t size, RTIME end)
{
	return do_read(buffer, data, size, alchemy_until(end));
}

ssize_t rt_buffer_read(RT_BUFFER *buffer, void *data, size_t size, RTIME timeout)
{
	return do_read(buffer, data, size, alchemy_after(timeout));
}

int rt_buffer_clear(RT_BUFFER *buffer)
{
	struct buffer *found = alchemy_enter(&kind, buffer->handle);

	if (!found)
		return -EINVAL;
	primary_buffer_clear(&found->bytes);
	return alchemy_leave(0);
}

int rt_buffer_inquire(RT_BUFFER *buffer, RT_BUFFER_INFO *info)
{
	struct buffer *found = alchemy_enter(&kind, buffer->handle);

	if (!found)
		return -EINVAL;
	info->iwaiters = primary_count(&found->bytes.readers);
	info->owaiters = primary_count(&found->bytes.writers);
	info->totalmem = found->bytes.size;
	info->availmem = found->bytes.size - found->bytes.used;
	alchemy_tell_name(&found->object, info->name);
	return alchemy_leave(0);
}

int rt_buffer_bind(RT_BUFFER *buffer, const char *name, RTIME timeout)
{
	return alchemy_bind(&kind, name, timeout, &buffer->handle);
}

int rt_buffer_unbind(RT_BUFFER *buffer)
{
	buffer->handle = 0;
	return 0;
}
