/* SPDX-License-Identifier: GPL-2.0-only */
/* Groups of 32 flags, which a thread that waits takes. */
#ifndef _EVL_FLAGS_H
#define _EVL_FLAGS_H

#include <evl/factory.h>

struct evl_flags {
	struct evl_element element;
};

#define EVL_FLAGS_INITIALIZER(name, clockfd, initval, flags) EVL_ELEMENT_INITIALIZER(name, clockfd, initval, flags)

#ifdef __cplusplus
extern "C" {
#endif

int evl_create_flags(struct evl_flags *group, int clockfd, int initval, int flags, const char *format, ...);
int evl_open_flags(struct evl_flags *group, const char *format, ...);
/* For any flags; some: for any of these; exact: for all of these. What is told is taken. */
int evl_wait_flags(struct evl_flags *group, int *told);
int evl_timedwait_flags(struct evl_flags *group, const struct timespec *timeout, int *told);
int evl_trywait_flags(struct evl_flags *group, int *told);
int evl_wait_some_flags(struct evl_flags *group, int bits, int *told);
int evl_timedwait_some_flags(struct evl_flags *group, int bits, const struct timespec *timeout, int *told);
int evl_trywait_some_flags(struct evl_flags *group, int bits, int *told);
int evl_wait_exact_flags(struct evl_flags *group, int bits);
int evl_timedwait_exact_flags(struct evl_flags *group, int bits, const struct timespec *timeout);
int evl_trywait_exact_flags(struct evl_flags *group, int bits);
/* Post: who is first takes them. Broadcast: all that wait for them get them. */
int evl_post_flags(struct evl_flags *group, int bits);
int evl_broadcast_flags(struct evl_flags *group, int bits);
int evl_peek_flags(struct evl_flags *group, int *told);
int evl_close_flags(struct evl_flags *group);

#define evl_new_flags(group, ...) evl_create_flags(group, EVL_CLOCK_MONOTONIC, 0, EVL_CLONE_PRIVATE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
