/* SPDX-License-Identifier: GPL-2.0-only */
/* Mutexes, for conditions. They and conditions are libcobalt's, which are in primary mode. */
#ifndef ALCHEMY_MUTEXES_H
#define ALCHEMY_MUTEXES_H

#include <alchemy/mutex.h>
#include <pthread.h>

#include "object.h"

struct mutex {
	struct alchemy_object object;
	pthread_mutex_t mutex;
	/* Whose it is, and how often it was locked; for the owner, and who asks. */
	RT_TASK owner;
	unsigned int depth;
};

extern const struct alchemy_kind alchemy_mutexes;

/* The owner's own. */
static inline int alchemy_owns(const struct mutex *mutex)
{
	return mutex->depth && pthread_equal(mutex->owner.thread, pthread_self());
}

#endif
