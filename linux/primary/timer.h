/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timers that do something when they expire, in a thread that is more urgent than all others. It is
 * made for the first timer that is started.
 */
#ifndef PRIMARY_TIMER_H
#define PRIMARY_TIMER_H

#include <stdint.h>

#include "list.h"
#include "moment.h"

/* A part of each object that has one. The lock guards it. */
struct primary_timer {
	struct link link;
	clockid_t clock;
	/* The next time, and what is between two; 0: there is none. */
	int64_t next;
	int64_t interval;
	/* Called without the lock, with how often it expired since the last time. */
	void (*expires)(struct primary_timer *timer, uint64_t times);
};

void primary_timer_init(struct primary_timer *timer, clockid_t clock,
			void (*expires)(struct primary_timer *timer, uint64_t times));
/* Starts it anew, under the lock. A time of 0 stops it. Returns 0, or an error. */
int primary_timer_start(struct primary_timer *timer, int64_t first, int64_t interval);
/* Stops it, under the lock, and waits until it is not called any more; it may call this itself. */
void primary_timer_end(struct primary_timer *timer);

#endif
