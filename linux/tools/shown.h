/* SPDX-License-Identifier: GPL-2.0-only */
/* What `pillion ps` shows. */
#ifndef SHOWN_H
#define SHOWN_H

#include <libpillion.h>

/* A task to show. */
struct shown {
	const struct pillion_view *view;
	const struct pillion_task_entry *entry;
	const struct pillion_status *status;
	unsigned int number;
	const struct pillion_thread_usage *usage;
};

void ps_text(const struct shown *task);
void ps_json(const struct shown *task);

/* Whether a task is loaded: otherwise its threads and FIFOs are not shown. */
static inline bool is_loaded(const struct shown *task)
{
	return task->entry->state > PILLION_TASK_STOPPED;
}

/* Whether a thread has used all the time that it may have, for a second. */
static inline bool is_busy(const struct shown *task, unsigned int thread)
{
	return task->entry->busy >> thread & 1;
}

/* Milliseconds that a thread has run. */
static inline double run_time(const struct shown *task, unsigned int thread)
{
	return pillion_nanoseconds(task->view, task->usage[thread].ticks) / 1e6;
}

#endif
