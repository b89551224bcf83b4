/* SPDX-License-Identifier: GPL-2.0-only */
/* Handlers of FIFOs, which run in the task. */
#ifndef HANDLER_H
#define HANDLER_H

#include "fifo.h"

/* Whether a handler is called after each read and write that moved data. */
static inline bool handler_is_there(const struct fifo_view *view)
{
	/* What a task that is gone has left is read without the handler. */
	return view->flags & PILLION_FIFO_HANDLER && task_alive(view->task);
}

bool handler_is_free(const struct fifo_view *view);
int handler_claim(const struct fifo_view *view, bool nonblock);
void handler_release(const struct fifo_view *view);
long handler_call(const struct fifo_view *view, u32 kind, bool nonblock);
long handler_ioctl(const struct fifo_view *view, unsigned int command, unsigned long argument,
		   bool nonblock);

#endif
