/* SPDX-License-Identifier: GPL-2.0-only */
/* Counting semaphores. */
#ifndef _EVL_SEM_H
#define _EVL_SEM_H

#include <evl/factory.h>

struct evl_sem {
	struct evl_element element;
};

#define EVL_SEM_INITIALIZER(name, clockfd, initval, flags) EVL_ELEMENT_INITIALIZER(name, clockfd, initval, flags)

#ifdef __cplusplus
extern "C" {
#endif

int evl_create_sem(struct evl_sem *sem, int clockfd, int initval, int flags, const char *format, ...);
int evl_open_sem(struct evl_sem *sem, const char *format, ...);
int evl_get_sem(struct evl_sem *sem);
int evl_timedget_sem(struct evl_sem *sem, const struct timespec *timeout);
int evl_tryget_sem(struct evl_sem *sem);
int evl_put_sem(struct evl_sem *sem);
/* All that wait get -EAGAIN; the count is 0 afterwards. */
int evl_flush_sem(struct evl_sem *sem);
/* The count; if threads wait, how many, as a negative number. */
int evl_peek_sem(struct evl_sem *sem, int *value);
int evl_close_sem(struct evl_sem *sem);

#define evl_new_sem(sem, ...) evl_create_sem(sem, EVL_CLOCK_MONOTONIC, 0, EVL_CLONE_PRIVATE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
