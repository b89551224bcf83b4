/* SPDX-License-Identifier: GPL-2.0-only */
/* What all kinds of objects share: flags of those that make them, and values that are passed on. */
#ifndef _EVL_FACTORY_H
#define _EVL_FACTORY_H

#include <errno.h>
#include <linux/types.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* A name with a slash in front is public: other processes can open some kinds of elements by it. */
#define EVL_CLONE_PRIVATE 0
#define EVL_CLONE_PUBLIC (1 << 16)
#define EVL_CLONE_OBSERVABLE (1 << 17)
#define EVL_CLONE_NONBLOCK (1 << 18)
#define EVL_CLONE_UNICAST (1 << 19)
#define EVL_CLONE_INPUT (1 << 20)
#define EVL_CLONE_OUTPUT (1 << 21)
#define EVL_CLONE_MASTER EVL_CLONE_UNICAST
#define EVL_CLONE_MASK 0x3f0000

/* The clocks that there are, in place of descriptors. */
#define EVL_CLOCK_MONOTONIC (-1)
#define EVL_CLOCK_REALTIME (-2)

union evl_value {
	__s32 val;
	__s64 lval;
	void *ptr;
};

#ifdef __cplusplus
static inline union evl_value evl_intval(__s32 val)
{
	union evl_value value;

	value.lval = 0;
	value.val = val;
	return value;
}

static inline union evl_value evl_longval(__s64 lval)
{
	union evl_value value;

	value.lval = lval;
	return value;
}

static inline union evl_value evl_ptrval(void *ptr)
{
	union evl_value value;

	value.ptr = ptr;
	return value;
}
#else
#define evl_intval(of) ((union evl_value){ .val = (of) })
#define evl_longval(of) ((union evl_value){ .lval = (of) })
#define evl_ptrval(of) ((union evl_value){ .ptr = (of) })
#endif

#define evl_nil evl_longval(0)

/* The beginning of what a program holds of an object; it is the library's. */
struct evl_element {
	__u32 state;
	__s32 efd;
	void *object;
	/* How to make it when it is first used. */
	const char *name;
	__s32 clockfd;
	__u32 value;
	__s32 flags;
};

#define EVL_ELEMENT_UNMADE 0x65766c30
#define EVL_ELEMENT_INITIALIZER(name, clockfd, value, flags) \
	{ { EVL_ELEMENT_UNMADE, -1, 0, name, clockfd, (__u32)(value), flags } }

#ifdef __cplusplus
extern "C" {
#endif

/* Prepares the process; whatever makes an object or attaches a thread does so, too. */
int evl_init(void);

#ifdef __cplusplus
}
#endif

#endif
