/* SPDX-License-Identifier: GPL-2.0-only */
/* Groups of event flags. */
#ifndef _ALCHEMY_EVENT_H
#define _ALCHEMY_EVENT_H

#include <alchemy/timer.h>

#ifndef XNOBJECT_NAME_LEN
#define XNOBJECT_NAME_LEN 32
#endif

/* Modes of a group, and of a wait: for all flags, or for any. */
#define EV_FIFO 0x0
#define EV_PRIO 0x1
#define EV_ALL 0x0
#define EV_ANY 0x1

typedef struct RT_EVENT {
	uintptr_t handle;
} RT_EVENT;

typedef struct rt_event_info {
	unsigned int value;
	int nwaiters;
	char name[XNOBJECT_NAME_LEN];
} RT_EVENT_INFO;

#ifdef __cplusplus
extern "C" {
#endif

int rt_event_create(RT_EVENT *event, const char *name, unsigned int value, int mode);
int rt_event_delete(RT_EVENT *event);
int rt_event_signal(RT_EVENT *event, unsigned int mask);
int rt_event_clear(RT_EVENT *event, unsigned int mask, unsigned int *before);
int rt_event_wait_timed(RT_EVENT *event, unsigned int mask, unsigned int *found, int mode, const struct timespec *end);
int rt_event_wait_until(RT_EVENT *event, unsigned int mask, unsigned int *found, int mode, RTIME end);
int rt_event_wait(RT_EVENT *event, unsigned int mask, unsigned int *found, int mode, RTIME timeout);
int rt_event_inquire(RT_EVENT *event, RT_EVENT_INFO *info);
int rt_event_bind(RT_EVENT *event, const char *name, RTIME timeout);
int rt_event_unbind(RT_EVENT *event);

#ifdef __cplusplus
}
#endif

#endif
