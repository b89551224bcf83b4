/* SPDX-License-Identifier: GPL-2.0-only */
/* Semaphores with names: Pillion's, which other processes and RTLinux tasks open, too. */
#ifndef COBALT_NAMED_H
#define COBALT_NAMED_H

#include <semaphore.h>
#include <stdbool.h>

#include "primary/moment.h"

/* What says in a program's semaphore that it is one of these. */
#define COBALT_NAMED 0x436f4235

/* A semaphore as it lies in the program's. */
struct cobalt_semaphore {
	/* The C library's value, and whom it is for: NATIVE_SHARED, if it is processes'. */
	uint64_t value;
	uint32_t native;
	uint32_t unused;
	uint32_t mark;
	struct state *state;
};

#define NATIVE_SHARED 128

static inline bool cobalt_is_named(const sem_t *sem)
{
	return ((const struct cobalt_semaphore *)sem)->mark == COBALT_NAMED;
}

/* Each returns 0, or the negative number of an error. */
int cobalt_named_take(sem_t *sem, struct primary_end end);
int cobalt_named_post(sem_t *sem);
int cobalt_named_value(sem_t *sem, int *value);

#endif
