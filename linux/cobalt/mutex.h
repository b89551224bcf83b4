/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A mutex as it lies in the program's: the kind is where the C library has it, which tells its own
 * mutexes from these, and all else is 0 in one that was statically initialised.
 */
#ifndef COBALT_MUTEX_H
#define COBALT_MUTEX_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct mutex {
	uint32_t handle;
	uint32_t inherits;
	/* The one that it is made with; 0: it has none. */
	uint32_t ceiling;
	uint32_t unused;
	int kind;
};

_Static_assert(offsetof(struct mutex, kind) == offsetof(pthread_mutex_t, __data.__kind), "the kind's place");

long cobalt_mutex(pthread_mutex_t *mutex);
/* Locks one of primary mode's, also if the caller is above its ceiling. */
int cobalt_mutex_lock(pthread_mutex_t *mutex);

#endif
