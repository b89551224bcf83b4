/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Real-time tasks on Pillion, for programs in Linux. Functions return 0 or more (or a pointer), or
 * -1 (or NULL) and set errno, unless stated otherwise. The library needs the kernel module
 * `pillion`.
 */
#ifndef LIBPILLION_H
#define LIBPILLION_H

#include <pillion_channel.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A read-only view of what the tasks show, always current. */
struct pillion_view;

struct pillion_view *pillion_view_open(void);
void pillion_view_close(struct pillion_view *view);

/* Updates the processor times in the view. */
int pillion_view_refresh(struct pillion_view *view);

unsigned int pillion_task_count(const struct pillion_view *view);
/* The index of a task, by its name. */
int pillion_task_find(const struct pillion_view *view, const char *name);
/* The entries of a task; the index must be less than the count. */
const struct pillion_task_entry *pillion_task(const struct pillion_view *view, unsigned int task);
const struct pillion_status *pillion_task_status(const struct pillion_view *view, unsigned int task);
const struct pillion_share *pillion_task_share(const struct pillion_view *view, unsigned int task);
const struct pillion_thread_usage *pillion_task_usage(const struct pillion_view *view, unsigned int task);
/* The control words of a task's FIFO, which both sides use. */
const struct pillion_fifo_control *pillion_task_fifo(const struct pillion_view *view, unsigned int task, unsigned int fifo);
/* Converts ticks to nanoseconds. */
uint64_t pillion_nanoseconds(const struct pillion_view *view, uint64_t ticks);
/* The time that gethrtime() returns in tasks: nanoseconds since the machine started. */
int64_t pillion_time(const struct pillion_view *view);

/* Bytes in the rings of a FIFO. False if its counters are impossible. */
struct pillion_fifo_fill {
	uint64_t to_linux;
	uint64_t to_task;
};
bool pillion_fifo_fill(const struct pillion_fifo_entry *entry, const struct pillion_fifo_control *control,
		       struct pillion_fifo_fill *fill);

/* Start and end a task. Parameters are `NAME=VALUE` separated by blanks, or NULL. */
int pillion_load(const char *task, const char *parameters);
int pillion_unload(const char *task);

/* Opens /dev/rtfNUMBER with flags of open(). */
int pillion_fifo_open(unsigned int number, int flags);
/* Read and write all of the buffer, in as many calls as it takes; for a FIFO without O_NONBLOCK. */
int pillion_fifo_read(int fifo, void *buffer, size_t size);
int pillion_fifo_write(int fifo, const void *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
