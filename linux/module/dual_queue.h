/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * POSIX's message queues that threads in primary mode use as well: dual_queue.c which they are,
 * and their files; dual_queue_call.c the calls about them. Such a queue is one of Linux's that has
 * a name, rights and descriptors there, and no messages: these are in memory of both sides.
 *
 * The order of waits and changes is that of other files (dual_file.h).
 */
#ifndef DUAL_QUEUE_H
#define DUAL_QUEUE_H

#include <linux/fs.h>
#include <linux/mqueue.h>
#include <linux/mutex.h>
#include <linux/signal_types.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <pillion_dual.h>

#include "dual.h"

/* What threads wait for. */
enum dual_queue_side {
	DUAL_QUEUE_RECEIVES,
	DUAL_QUEUE_SENDS,
	DUAL_QUEUE_SIDES,
};

struct dual_queue {
	struct pillion_dual_queue *shared;
	/* Linux's queue; NULL: the place is free, but for runners that still use it. */
	struct inode *inode;
	/* `most` times `size` bytes, in whole pages. */
	void *texts;
	unsigned int most;
	unsigned int size;
	/* Held, with interrupts disabled, by whoever holds `shared->lock` for Linux. */
	raw_spinlock_t lock;
	/* Threads that wait in a call, and those that poll. */
	wait_queue_head_t waits[DUAL_QUEUE_SIDES];
	wait_queue_head_t polls;
	/* Held while somebody is told of a message, for which nothing waits. */
	struct mutex telling;
	/* Somebody may be yet to be told of a message. */
	bool untold;
};

/* The queue of an open file, or NULL. The caller holds a reference to the file. */
struct dual_queue *dual_queue_of(const struct file *file);
/* Whether a thread on that side has no need to wait. */
bool dual_queue_lets(const struct dual_queue *this, enum dual_queue_side side);
/* Messages now. */
unsigned int dual_queue_count(const struct dual_queue *this);
u64 dual_queue_address(const struct dual_queue *this, enum dual_queue_side side);
/* Nobody else is at the messages between these two. No thread in Linux is stopped meanwhile. */
void dual_queue_acquire(struct dual_queue *this);
void dual_queue_release(struct dual_queue *this);
/* Wakes who waits on a side that can go on now. Returns whether somebody did. */
bool dual_queue_changed(struct dual_queue *this, enum dual_queue_side side);
/*
 * A descriptor of Linux's own queue beside one of both sides, for calls of Linux's; or an error.
 * Nobody looks at the rights of who gets it. It is closed without what the end of a process's use
 * means to such a queue.
 */
int dual_queue_open_native(const struct file *file, int flags, struct file **own);
void dual_queue_close_native(int descriptor, struct file *own);

/* The calls, of threads in Linux. */
int dual_queue_send(struct file *file, const char __user *from, size_t length, unsigned int priority,
		    const struct timespec64 *until);
int dual_queue_receive(struct file *file, char __user *to, size_t room, unsigned int __user *to_priority,
		       const struct timespec64 *until);
int dual_queue_notify(struct file *file, const struct sigevent *how);
int dual_queue_change(struct file *file, const struct mq_attr *new, struct mq_attr *old);
/* An inode of Linux's is about to end. */
void dual_queue_end(struct inode *inode);

/*
 * Linux's own functions, for a queue of its own: a message without a text, and what else it has.
 * Neither a send nor a receive waits. What is received goes, also if its text can be put nowhere
 * (EFAULT).
 */
int dual_queue_native_send(int descriptor);
int dual_queue_native_receive(int descriptor, size_t room);
int dual_queue_native_notify(int descriptor, const struct sigevent *how);
int dual_queue_attributes(int descriptor, struct mq_attr *attributes);

#endif
