/* SPDX-License-Identifier: GPL-2.0-only */
/* Mutexes, for conditions. They and conditions are libcobalt's, which are in primary mode. */
#ifndef ALCHEMY_MUTEXES_H
#define ALCHEMY_MUTEXES_H

#include <alchemy/mutex.h>
#include <errno.h>
#include <pthread.h>

#include "object.h"
#include "primary/thread.h"

struct mutex {
	struct alchemy_object object;
	/* The session's mutex, which `mutex` has; 0: it is this process's. */
	uint32_t shared;
	pthread_mutex_t mutex;
	/*
	 * Whose it is, and how often that locked it; for the owner, and who asks. An owner that
	 * ended stays here until the next one.
	 */
	RT_TASK owner;
	pid_t owner_tid;
	unsigned int depth;
};

extern const struct alchemy_kind alchemy_mutexes;

/* The owner's own. */
static inline bool alchemy_owns(const struct mutex *mutex)
{
	return mutex->depth && mutex->owner_tid == primary_self()->tid;
}

/* The result of a lock: an owner that ended, of a mutex of Linux's or a session's, is no error. */
static inline int alchemy_owner_died(struct mutex *mutex, int error)
{
	if (error != EOWNERDEAD)
		return error;
	return mutex->shared ? 0 : pthread_mutex_consistent(&mutex->mutex);
}

#endif
