/* SPDX-License-Identifier: GPL-2.0-only */
/* What threads are told of by SIGDEBUG that this library finds: how they use mutexes and sleep. */
#ifndef COBALT_DEBUG_H
#define COBALT_DEBUG_H

#include <errno.h>
#include <stdbool.h>

/* How often the calling thread has locked mutexes that it has not unlocked. */
extern __thread unsigned int cobalt_owned;

/* Counts a mutex that was locked, unless that has failed with an error, which is returned. */
static inline int cobalt_locked(int error)
{
	cobalt_owned += !error || error == EOWNERDEAD;
	return error;
}

/* The same for one that was unlocked. A weak thread that did not own it may be told. */
int cobalt_unlocked(int error);
/* A mutex is given up for a condition, all its locks. Returns how many of them were counted. */
unsigned int cobalt_give_up(unsigned int locks);

/* The modes of the calling thread. */
extern __thread int cobalt_modes;
void cobalt_set_modes(int modes);
/* Whether it must not break its lock of the scheduler by sleeping. */
bool cobalt_keeps_lock(void);
/* It is about to do so. */
void cobalt_breaks_lock(void);

#endif
