/* SPDX-License-Identifier: GPL-2.0-only */
/* Mutexes, with inheritance of priority or a ceiling. */
#ifndef _EVL_MUTEX_H
#define _EVL_MUTEX_H

#include <evl/factory.h>

#define EVL_MUTEX_NORMAL 0
#define EVL_MUTEX_RECURSIVE 1

struct evl_mutex {
	struct evl_element element;
};

/* A ceiling of 0: the owner inherits its waiters' priority. */
#define EVL_MUTEX_INITIALIZER(name, clockfd, ceiling, flags) EVL_ELEMENT_INITIALIZER(name, clockfd, ceiling, flags)

#ifdef __cplusplus
extern "C" {
#endif

int evl_create_mutex(struct evl_mutex *mutex, int clockfd, unsigned int ceiling, int flags, const char *format, ...);
int evl_open_mutex(struct evl_mutex *mutex, const char *format, ...);
int evl_lock_mutex(struct evl_mutex *mutex);
int evl_timedlock_mutex(struct evl_mutex *mutex, const struct timespec *timeout);
int evl_trylock_mutex(struct evl_mutex *mutex);
int evl_unlock_mutex(struct evl_mutex *mutex);
/* The ceiling of a mutex that was made with one; else -EINVAL. */
int evl_set_mutex_ceiling(struct evl_mutex *mutex, unsigned int ceiling);
int evl_get_mutex_ceiling(struct evl_mutex *mutex);
int evl_close_mutex(struct evl_mutex *mutex);

#define evl_new_mutex(mutex, ...) evl_create_mutex(mutex, EVL_CLOCK_MONOTONIC, 0, EVL_MUTEX_NORMAL, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
