/* SPDX-License-Identifier: GPL-2.0-only */
/* FIFOs as the real-time side made them. */
#ifndef FIFO_H
#define FIFO_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "ring.h"
#include "window.h"

/* Linux's own state of a FIFO, whether the FIFO exists or not. */
struct fifo {
	/* Processes that wait for data, room or an answer. */
	wait_queue_head_t wait;
	/* Held while taking bytes. */
	struct mutex take;
	/* Held while putting bytes. */
	struct mutex put;
	/* Held while waiting for an answer of the task. */
	struct mutex request;
};

/*
 * A FIFO as it was found at one moment. Whatever happens to the FIFO, the pointers stay within the
 * task's part of the window.
 */
struct fifo_view {
	struct fifo *fifo;
	struct task *task;
	struct pillion_fifo_control *control;
	struct ring to_linux;
	struct ring to_task;
	unsigned int number;
	u32 generation;
	u32 flags;
	u32 read_from;
};

void fifo_init(void);
bool fifo_is_current(const struct fifo_view *view);
void fifo_stop_copying(void);
void fifo_go_on_copying(void);
int fifo_view(unsigned int number, struct fifo_view *view);
ssize_t fifo_take(const struct fifo_view *view, char __user *buffer, size_t count);
ssize_t fifo_put(const struct fifo_view *view, const char __user *buffer, size_t count,
		 size_t least);
int fifo_wait_data(const struct fifo_view *view);
int fifo_wait_room(const struct fifo_view *view, u64 room);
void fifo_ring(struct task *task, unsigned int number);
void fifo_ring_all(void);

/* Whether two views, taken at different times, are of the same FIFO. */
static inline bool fifo_is_same(const struct fifo_view *one, const struct fifo_view *other)
{
	return one->task == other->task && one->number == other->number &&
	       one->generation == other->generation;
}

/* Number of bytes that a process can read. */
static inline u64 fifo_fill(const struct fifo_view *view)
{
	return ring_used(&view->to_linux) + ring_used(&view->to_task);
}

/* Requests the doorbell for a change of the FIFO. The caller then checks its condition. */
static inline void fifo_want(u32 *want)
{
	atomic_or(1, (atomic_t *)want);
	/* The real-time side writes its counter, then reads this; we write this, then read that. */
	smp_mb();
}

#endif
