/* SPDX-License-Identifier: GPL-2.0-only */
/* Condition variables. */
#ifndef _ALCHEMY_COND_H
#define _ALCHEMY_COND_H

#include <alchemy/mutex.h>
#include <alchemy/timer.h>

typedef struct RT_COND {
	uintptr_t handle;
} RT_COND;

typedef struct rt_cond_info {
	char name[XNOBJECT_NAME_LEN];
} RT_COND_INFO;

#ifdef __cplusplus
extern "C" {
#endif

int rt_cond_create(RT_COND *cond, const char *name);
int rt_cond_delete(RT_COND *cond);
int rt_cond_signal(RT_COND *cond);
int rt_cond_broadcast(RT_COND *cond);
int rt_cond_wait_timed(RT_COND *cond, RT_MUTEX *mutex, const struct timespec *end);
int rt_cond_wait_until(RT_COND *cond, RT_MUTEX *mutex, RTIME end);
int rt_cond_wait(RT_COND *cond, RT_MUTEX *mutex, RTIME timeout);
int rt_cond_inquire(RT_COND *cond, RT_COND_INFO *info);
int rt_cond_bind(RT_COND *cond, const char *name, RTIME timeout);
int rt_cond_unbind(RT_COND *cond);

#ifdef __cplusplus
}
#endif

#endif
