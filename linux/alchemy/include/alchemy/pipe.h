/* SPDX-License-Identifier: GPL-2.0-only */
/* Message pipes to Linux, where one is /dev/rtpN. */
#ifndef _ALCHEMY_PIPE_H
#define _ALCHEMY_PIPE_H

#include <alchemy/timer.h>
#include <sys/types.h>

#define P_MINOR_AUTO (-1)
#define P_NORMAL 0x0
#define P_URGENT 0x1

typedef struct RT_PIPE {
	uintptr_t handle;
} RT_PIPE;

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the number. */
int rt_pipe_create(RT_PIPE *pipe, const char *name, int minor, size_t pool);
int rt_pipe_delete(RT_PIPE *pipe);
ssize_t rt_pipe_read_timed(RT_PIPE *pipe, void *data, size_t size, const struct timespec *end);
ssize_t rt_pipe_read_until(RT_PIPE *pipe, void *data, size_t size, RTIME end);
ssize_t rt_pipe_read(RT_PIPE *pipe, void *data, size_t size, RTIME timeout);
ssize_t rt_pipe_write(RT_PIPE *pipe, const void *data, size_t size, int mode);
/* Writes a part of a message, which is sent when a buffer is full, or at the next write. */
ssize_t rt_pipe_stream(RT_PIPE *pipe, const void *data, size_t size);
int rt_pipe_bind(RT_PIPE *pipe, const char *name, RTIME timeout);
int rt_pipe_unbind(RT_PIPE *pipe);

#ifdef __cplusplus
}
#endif

#endif
