/* SPDX-License-Identifier: GPL-2.0-only */
/* Mutexes, for events. */
#ifndef EVL_MUTEX_PRIVATE_H
#define EVL_MUTEX_PRIVATE_H

#include <evl/mutex.h>
#include <pthread.h>

#include "object.h"
#include "primary/mutex.h"

struct mutex {
	struct evl_object object;
	/* Of primary mode's; without that, it is the C library's. */
	bool is_native;
	union {
		struct primary_mutex own;
		pthread_mutex_t native;
	};
};

struct mutex *evl_mutex(struct evl_mutex *mutex);
/* Locks one, until a time; unlocks one that the caller owns. Both may be done under the lock. */
int evl_mutex_lock(struct mutex *mutex, struct primary_end end);
int evl_mutex_unlock(struct mutex *mutex);

#endif
