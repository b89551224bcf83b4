/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Eventfds and timerfds that threads in primary mode read and write as well: dual_file.c what both
 * have in common, dual_event.c and dual_timer.c their system calls and operations. Such a file
 * stays Linux's, but for its operations, which use what is shared with the task.
 *
 * The order is that of futexes: a wait is made known before the file is looked at, a file is
 * changed before waits are looked for, and a barrier stands between.
 */
#ifndef DUAL_FILE_H
#define DUAL_FILE_H

#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/poll.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <pillion_dual.h>

#include "dual.h"

struct seq_file;

/* Clocks by which a timer can run. */
enum {
	DUAL_FILE_MONOTONIC,
	DUAL_FILE_REALTIME,
	DUAL_FILE_BOOTTIME,
	DUAL_FILE_CLOCKS,
};

/* Wakes those that wait for a timer in Linux. */
struct dual_file_alarm {
	struct hrtimer timer;
	struct dual_file *file;
};

struct dual_file {
	struct pillion_dual_file *shared;
	/* It is not free. Then it has a file, or will have one soon. */
	bool is_claimed;
	struct file *file;
	/* What the file did before, and does now. */
	const struct file_operations *original;
	const struct file_operations *operations;
	u32 kind;
	/* Only Linux uses it from now on. */
	bool is_native;
	/* Threads in Linux that wait: the queue of Linux's own file. */
	wait_queue_head_t *queue;
	struct dual_file_alarm alarms[DUAL_FILE_CLOCKS];
	/* Calls for which the file has Linux's own operations. */
	unsigned int unmasked;
	/* Held while a timer is set. */
	struct mutex lock;
	/* Of a timer: the clock of its descriptor. */
	clockid_t clock;
};

/* What can be done with a file at once (EPOLLIN, EPOLLOUT). */
__poll_t dual_event_mask(const struct dual_file *this);
__poll_t dual_timer_mask(struct dual_file *this);

/* The file that one of Linux's is, or NULL. The caller holds a reference to that. */
struct dual_file *dual_file_of(const struct file *file);
struct dual_file *dual_file_claim(void);
void dual_file_unclaim(struct dual_file *this);
bool dual_file_adopt(struct dual_file *this, struct file *file, u32 kind, u64 value,
		     const struct file_operations *operations);
void dual_file_changed(struct dual_file *this, __poll_t possible);
bool dual_file_enter(long *result);
int dual_file_wait(struct dual_file *this, u64 room);
/*
 * A `read` of a file's count: waits until `take` returns one. What is possible then that was not
 * (EPOLLOUT) others are told.
 */
ssize_t dual_file_take(struct file *file, char __user *to, size_t size, loff_t *at,
		       u64 (*take)(struct dual_file *this), __poll_t possible);
__poll_t dual_file_poll(struct file *file, poll_table *table);
/* A file that only Linux uses. */
ssize_t dual_file_read(struct dual_file *this, char __user *to, size_t size, loff_t *at);
/* Linux's own functions for such a file recognize it until it is masked again. */
void dual_file_unmask(struct dual_file *this);
void dual_file_mask(struct dual_file *this);
/* An eventfd, unmasked; NULL: it is another file, or has to stay what it is. */
struct dual_file *dual_event_leave(struct file *file);
int dual_file_release(struct inode *inode, struct file *file);

#endif
