/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All of the interface. Results are 0, a descriptor or a count, or the negative number of an error;
 * those of oob_read, oob_write and oob_ioctl are as read, write and ioctl have them.
 */
#ifndef _EVL_EVL_H
#define _EVL_EVL_H

#include <evl/clock.h>
#include <evl/event.h>
#include <evl/factory.h>
#include <evl/flags.h>
#include <evl/heap.h>
#include <evl/mutex.h>
#include <evl/observable.h>
#include <evl/poll.h>
#include <evl/proxy.h>
#include <evl/rwlock.h>
#include <evl/sched.h>
#include <evl/sem.h>
#include <evl/syscall.h>
#include <evl/thread.h>
#include <evl/timer.h>
#include <evl/tube.h>
#include <evl/xbuf.h>

/* The level of the interface, to compare with. */
#define __EVL__ 34

struct evl_version {
	int api_level;
	int abi_level;
	const char *version_string;
};

#ifdef __cplusplus
extern "C" {
#endif

struct evl_version evl_get_version(void);

#ifdef __cplusplus
}
#endif

#endif
