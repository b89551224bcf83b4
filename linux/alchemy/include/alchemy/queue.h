/* SPDX-License-Identifier: GPL-2.0-only */
/* Message queues, whose messages are of the queue's memory. */
#ifndef _ALCHEMY_QUEUE_H
#define _ALCHEMY_QUEUE_H

#include <alchemy/timer.h>
#include <sys/types.h>

#ifndef XNOBJECT_NAME_LEN
#define XNOBJECT_NAME_LEN 32
#endif

/* Modes of a queue, its limit, and where a message goes. */
#define Q_FIFO 0x0
#define Q_PRIO 0x1
#define Q_UNLIMITED 0
#define Q_NORMAL 0x0
#define Q_URGENT 0x1
#define Q_BROADCAST 0x2

typedef struct RT_QUEUE {
	uintptr_t handle;
} RT_QUEUE;

typedef struct rt_queue_info {
	int nwaiters;
	int nmessages;
	int mode;
	size_t qlimit;
	size_t poolsize;
	size_t usedmem;
	char name[XNOBJECT_NAME_LEN];
} RT_QUEUE_INFO;

#ifdef __cplusplus
extern "C" {
#endif

int rt_queue_create(RT_QUEUE *queue, const char *name, size_t pool, size_t limit, int mode);
int rt_queue_delete(RT_QUEUE *queue);
void *rt_queue_alloc(RT_QUEUE *queue, size_t size);
int rt_queue_free(RT_QUEUE *queue, void *buffer);
/* Returns how many tasks it woke. */
int rt_queue_send(RT_QUEUE *queue, const void *buffer, size_t size, int mode);
int rt_queue_write(RT_QUEUE *queue, const void *data, size_t size, int mode);
ssize_t rt_queue_receive_timed(RT_QUEUE *queue, void **buffer, const struct timespec *end);
ssize_t rt_queue_receive_until(RT_QUEUE *queue, void **buffer, RTIME end);
ssize_t rt_queue_receive(RT_QUEUE *queue, void **buffer, RTIME timeout);
ssize_t rt_queue_read_timed(RT_QUEUE *queue, void *data, size_t size, const struct timespec *end);
ssize_t rt_queue_read_until(RT_QUEUE *queue, void *data, size_t size, RTIME end);
ssize_t rt_queue_read(RT_QUEUE *queue, void *data, size_t size, RTIME timeout);
int rt_queue_flush(RT_QUEUE *queue);
int rt_queue_inquire(RT_QUEUE *queue, RT_QUEUE_INFO *info);
int rt_queue_bind(RT_QUEUE *queue, const char *name, RTIME timeout);
int rt_queue_unbind(RT_QUEUE *queue);

#ifdef __cplusplus
}
#endif

#endif
