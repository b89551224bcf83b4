/* SPDX-License-Identifier: GPL-2.0-only */
/* Waiting for one of several of EVL's descriptors. */
#ifndef _EVL_POLL_H
#define _EVL_POLL_H

#include <evl/factory.h>
#include <poll.h>

struct evl_poll_event {
	__u32 fd;
	__u32 events;
	union evl_value pollval;
};

#ifdef __cplusplus
extern "C" {
#endif

int evl_new_poll(void);
int evl_add_pollfd(int efd, int newfd, unsigned int events, union evl_value pollval);
int evl_mod_pollfd(int efd, int modfd, unsigned int events, union evl_value pollval);
int evl_del_pollfd(int efd, int delfd);
/* Return how many there are that have an event; the time is one of EVL_CLOCK_MONOTONIC. */
int evl_poll(int efd, struct evl_poll_event *pollset, int nrset);
int evl_timedpoll(int efd, struct evl_poll_event *pollset, int nrset, const struct timespec *timeout);

#ifdef __cplusplus
}
#endif

#endif
