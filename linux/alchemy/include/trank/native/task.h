/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_NATIVE_TASK_H
#define _XENOMAI_TRANK_NATIVE_TASK_H

#include <alchemy/task.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <trank/native/types.h>

#ifndef T_PRIMARY
#define T_PRIMARY T_CONFORMING
#endif
#ifndef T_NOSIG
#define T_NOSIG 0
#endif

/* Signals of tasks are Linux's. */
static inline int rt_task_notify(RT_TASK *task, int signals)
{
	return -pthread_kill(task->thread, signals);
}

#endif
