/* SPDX-License-Identifier: GPL-2.0-only */
/* Queues of threads that wait for something in the process's memory. The lock guards them. */
#ifndef PRIMARY_WAIT_H
#define PRIMARY_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "list.h"
#include "moment.h"
#include "thread.h"

struct primary_queue {
	struct link waits;
	/* The most urgent thread is first; else, who has waited longest. */
	bool by_priority;
};

#define PRIMARY_QUEUE_INIT(queue, by_priority) { LINK_INIT((queue).waits), by_priority }

/* A thread in a queue; it lies on the thread's stack. */
struct primary_wait {
	struct link link;
	struct primary_queue *queue;
	struct primary_thread *thread;
	/* Not 0: the wait has ended, with this result. */
	uint32_t has_ended;
	int result;
	/* What it waits for, and what it is given, as the object has it. */
	void *data;
	uint64_t value;
	/* Takes back what a thread was given that was cancelled in the same moment. */
	void (*give_back)(struct primary_wait *wait);
	/* The thread has no choice: primary_may_sleep() is not asked. */
	bool is_forced;
};

/*
 * What a skin does before the calling thread sleeps, without the lock; NULL: nothing. Returns 0, or
 * the negative number of an error, with which the wait ends.
 */
extern __thread int (*primary_sleeps)(void);

static inline int primary_may_sleep(void)
{
	return primary_sleeps ? primary_sleeps() : 0;
}

void primary_queue_init(struct primary_queue *queue, bool by_priority);

/*
 * Waits until somebody ends the wait, or until that time, and frees the lock meanwhile. Returns the
 * result, or -ETIMEDOUT, -EWOULDBLOCK of PRIMARY_TRY, -EINTR after a signal. It is a cancellation
 * point; a thread that is cancelled does not have the lock.
 */
int primary_wait(struct primary_queue *queue, struct primary_wait *wait, struct primary_end end);

/* The first thread that waits, or NULL. */
struct primary_wait *primary_first(const struct primary_queue *queue);
/* Ends the wait of a thread. */
void primary_wake(struct primary_wait *wait, int result);
/* Has a thread wait in another queue. */
void primary_move(struct primary_wait *wait, struct primary_queue *queue);
/* Ends the waits of all. Returns how many there were. */
unsigned int primary_wake_all(struct primary_queue *queue, int result);
unsigned int primary_count(const struct primary_queue *queue);
/* The numbers of the threads that wait, as far as there is room. Returns how many those are. */
unsigned int primary_list(const struct primary_queue *queue, pid_t *numbers, unsigned int room);
/* Ends the waits of those that `ends` says have what they want. It may set their values. */
void primary_wake_some(struct primary_queue *queue, bool (*ends)(struct primary_wait *wait));

#endif
