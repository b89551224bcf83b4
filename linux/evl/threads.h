/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads as the parts of libevl know them. */
#ifndef EVL_THREAD_PRIVATE_H
#define EVL_THREAD_PRIVATE_H

#include <evl/thread.h>
#include <pthread.h>

#include "object.h"
#include "observed.h"

struct evl_thread {
	struct evl_object object;
	/* What the skins know of it; NULL: it is not attached any more. */
	struct primary_thread *thread;
	pid_t tid;
	int efd;
	int modes;
	/* Mutexes that it owns. */
	unsigned int owned;
	/* It slept with one, under the lock, so that it is told of it afterwards. */
	bool has_slept;
	/* Who observes it, if it can be observed, and what it observes. */
	struct evl_observed observed;
	bool is_observable;
	struct link subscriptions;
};

extern const struct evl_kind evl_threads;
/* The calling thread; NULL: it is not attached. */
extern __thread struct evl_thread *evl_current;

static inline bool evl_is_urgent(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* The calling thread waits, or has: one that owns a mutex may want to be told of it. */
void evl_sleeps(void);
/* The calling thread is told of something, if it wants to be told of what has that mode. */
void evl_tell(int mode, int cause);
/* Has a thread look at what Linux wants of it. */
void evl_kick(pid_t tid);

#endif
