/* SPDX-License-Identifier: GPL-2.0-only */
/* Locks for readers and writers. A writer goes before readers that are less urgent. */
#ifndef _EVL_RWLOCK_H
#define _EVL_RWLOCK_H

#include <evl/factory.h>

struct evl_rwlock {
	struct evl_element element;
};

#define EVL_RWLOCK_INITIALIZER(name, clockfd, flags) EVL_ELEMENT_INITIALIZER(name, clockfd, 0, flags)

#ifdef __cplusplus
extern "C" {
#endif

int evl_create_rwlock(struct evl_rwlock *rwlock, int clockfd, int flags, const char *format, ...);
int evl_open_rwlock(struct evl_rwlock *rwlock, const char *format, ...);
int evl_lock_read(struct evl_rwlock *rwlock);
int evl_timedlock_read(struct evl_rwlock *rwlock, const struct timespec *timeout);
int evl_trylock_read(struct evl_rwlock *rwlock);
int evl_unlock_read(struct evl_rwlock *rwlock);
int evl_lock_write(struct evl_rwlock *rwlock);
int evl_timedlock_write(struct evl_rwlock *rwlock, const struct timespec *timeout);
int evl_trylock_write(struct evl_rwlock *rwlock);
int evl_unlock_write(struct evl_rwlock *rwlock);
int evl_close_rwlock(struct evl_rwlock *rwlock);

#define evl_new_rwlock(rwlock, ...) evl_create_rwlock(rwlock, EVL_CLOCK_MONOTONIC, EVL_CLONE_PRIVATE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
