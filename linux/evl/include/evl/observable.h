/* SPDX-License-Identifier: GPL-2.0-only */
/* Notices to all threads that have subscribed to them. */
#ifndef _EVL_OBSERVABLE_H
#define _EVL_OBSERVABLE_H

#include <evl/factory.h>

/* Smaller tags are what threads are told of: EVL_HMDIAG_... */
#define EVL_NOTICE_USER 64

/* How a thread subscribes: to all notices, or not to those that are like the one before. */
#define EVL_NOTIFY_ALWAYS 0
#define EVL_NOTIFY_ONCHANGE 1

struct evl_notice {
	__u32 tag;
	union evl_value event;
};

struct evl_notification {
	__u32 tag;
	__u32 serial;
	/* The number of the thread in Linux. */
	__s32 issuer;
	union evl_value event;
	struct timespec date;
};

#ifdef __cplusplus
extern "C" {
#endif

int evl_create_observable(int flags, const char *format, ...);
/* Returns how many of the notices got to somebody. */
int evl_update_observable(int ofd, const struct evl_notice *notices, int count);
/* Waits for notices. Returns how many there are. */
int evl_read_observable(int ofd, struct evl_notification *notifications, int count);
/* Of a thread's descriptor as well, if it was attached with EVL_CLONE_OBSERVABLE. */
int evl_subscribe(int ofd, unsigned int backlog_count, int flags);
int evl_unsubscribe(int ofd);

#define evl_new_observable(...) evl_create_observable(EVL_CLONE_PRIVATE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
