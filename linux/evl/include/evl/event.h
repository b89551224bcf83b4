/* SPDX-License-Identifier: GPL-2.0-only */
/* Events, for which threads wait as for a condition variable. */
#ifndef _EVL_EVENT_H
#define _EVL_EVENT_H

#include <evl/factory.h>
#include <evl/mutex.h>

struct evl_event {
	struct evl_element element;
};

#define EVL_EVENT_INITIALIZER(name, clockfd, flags) EVL_ELEMENT_INITIALIZER(name, clockfd, 0, flags)

#ifdef __cplusplus
extern "C" {
#endif

int evl_create_event(struct evl_event *event, int clockfd, int flags, const char *format, ...);
int evl_open_event(struct evl_event *event, const char *format, ...);
int evl_wait_event(struct evl_event *event, struct evl_mutex *mutex);
int evl_timedwait_event(struct evl_event *event, struct evl_mutex *mutex, const struct timespec *timeout);
int evl_signal_event(struct evl_event *event);
int evl_signal_thread(struct evl_event *event, int thread);
int evl_broadcast_event(struct evl_event *event);
int evl_close_event(struct evl_event *event);

#define evl_new_event(event, ...) evl_create_event(event, EVL_CLOCK_MONOTONIC, EVL_CLONE_PRIVATE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
