/* SPDX-License-Identifier: GPL-2.0-only */
/* Buffers of bytes. */
#ifndef _ALCHEMY_BUFFER_H
#define _ALCHEMY_BUFFER_H

#include <alchemy/timer.h>
#include <sys/types.h>

#ifndef XNOBJECT_NAME_LEN
#define XNOBJECT_NAME_LEN 32
#endif

#define B_FIFO 0x0
#define B_PRIO 0x1

typedef struct RT_BUFFER {
	uintptr_t handle;
} RT_BUFFER;

typedef struct rt_buffer_info {
	int iwaiters;
	int owaiters;
	size_t totalmem;
	size_t availmem;
	char name[XNOBJECT_NAME_LEN];
} RT_BUFFER_INFO;

#ifdef __cplusplus
extern "C" {
#endif

int rt_buffer_create(RT_BUFFER *buffer, const char *name, size_t size, int mode);
int rt_buffer_delete(RT_BUFFER *buffer);
ssize_t rt_buffer_write_timed(RT_BUFFER *buffer, const void *data, size_t size, const struct timespec *end);
ssize_t rt_buffer_write_until(RT_BUFFER *buffer, const void *data, size_t size, RTIME end);
ssize_t rt_buffer_write(RT_BUFFER *buffer, const void *data, size_t size, RTIME timeout);
ssize_t rt_buffer_read_timed(RT_BUFFER *buffer, void *data, size_t size, const struct timespec *end);
ssize_t rt_buffer_read_until(RT_BUFFER *buffer, void *data, size_t size, RTIME end);
ssize_t rt_buffer_read(RT_BUFFER *buffer, void *data, size_t size, RTIME timeout);
int rt_buffer_clear(RT_BUFFER *buffer);
int rt_buffer_inquire(RT_BUFFER *buffer, RT_BUFFER_INFO *info);
int rt_buffer_bind(RT_BUFFER *buffer, const char *name, RTIME timeout);
int rt_buffer_unbind(RT_BUFFER *buffer);

#ifdef __cplusplus
}
#endif

#endif
