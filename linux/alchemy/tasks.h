/* SPDX-License-Identifier: GPL-2.0-only */
/* Tasks, as the parts of this library know them. The lock guards them. */
#ifndef ALCHEMY_TASKS_H
#define ALCHEMY_TASKS_H

#include <alchemy/task.h>

#include "object.h"
#include "primary/thread.h"
#include "primary/wait.h"

struct task {
	struct alchemy_object object;
	/* What the task itself is told of it. */
	RT_TASK self;
	/* NULL once it has ended. */
	struct primary_thread *thread;
	pthread_t pthread;
	int priority;
	int mode;
	void (*entry)(void *argument);
	void *argument;
	bool is_started;
	bool is_shadow;
	/* The task itself before it is started, and those that wait for its end. */
	struct primary_queue starts;
	struct primary_queue ends;
	/* Tasks that sent it a message, itself if it waits for one, those that wait for a reply. */
	struct primary_queue senders;
	struct primary_queue receiver;
	struct primary_queue callers;
	/* Number of the last message. */
	int flow;
	/* The condition that it waits for, and whether rt_task_unblock() has ended that wait. */
	pthread_cond_t *awaited;
	bool is_unblocked;
};

extern const struct alchemy_kind alchemy_tasks;

/* The task of a handle, or the calling one if it is NULL, with the lock; NULL, without: none. */
struct task *alchemy_task(RT_TASK *task);
/* The calling task, or NULL. */
struct task *alchemy_self(void);

#endif
