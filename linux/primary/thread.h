/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the skins know of a thread. It is made when the thread first uses one of them, and ends with
 * the thread.
 */
#ifndef PRIMARY_THREAD_H
#define PRIMARY_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "list.h"

struct primary_wait;

#define PRIMARY_NAME 32

/* The lock guards it, but for what only the thread itself looks at. */
struct primary_thread {
	struct link link;
	pthread_t pthread;
	pid_t tid;
	int policy;
	int priority;
	char name[PRIMARY_NAME];
	/* What it waits for, and the semaphore on which it sleeps. */
	struct primary_wait *wait;
	uint32_t semaphore;
	/* How often it was suspended and not resumed. */
	unsigned int suspensions;
	/* Its next release, its period, and the clock; no period: it is not periodic. */
	int64_t release;
	int64_t period;
	clockid_t clock;
};

/* The calling thread. */
struct primary_thread *primary_self(void);
/* Whether it has a real-time policy. */
bool primary_is_urgent(void);
/* Another one, under the lock; NULL: it is not known, or has ended. */
struct primary_thread *primary_find(pthread_t pthread);
struct primary_thread *primary_find_tid(pid_t tid);
/* Calls a function for each thread, under the lock. */
void primary_each(void (*with)(struct primary_thread *thread, void *argument), void *argument);

/* A thread's priority was changed; the queue in which it waits is in order again. */
void primary_set_priority(struct primary_thread *thread, int policy, int priority);

/*
 * Suspends a thread, or takes that back, under the lock. A thread that is suspended goes on with
 * the wait that it is in, and stands still afterwards; the calling thread does when it has freed
 * the lock.
 */
void primary_suspend(struct primary_thread *thread);
void primary_resume(struct primary_thread *thread);
/* Has the calling thread wait while it is suspended; without the lock. */
void primary_stand_still(void);

/* Ends a thread's wait with -EINTR, under the lock. Returns whether it was in one. */
bool primary_unblock(struct primary_thread *thread);

/*
 * Makes a thread periodic, under the lock, from a time on, 0 meaning in a period from now; a period
 * of 0 ends that.
 */
int primary_set_periodic(struct primary_thread *thread, clockid_t clock, int64_t first, int64_t period);
/*
 * Waits for the calling thread's next release. Returns how many were missed; -EWOULDBLOCK: it is
 * not periodic.
 */
long primary_wait_period(void);
/* Sleeps until a time of a clock. Returns 0 or -EINTR. */
int primary_sleep_until(clockid_t clock, int64_t ns);

#endif
