/* SPDX-License-Identifier: GPL-2.0-only */
/* Mutexes: recursive, with inheritance of priority. */
#ifndef _ALCHEMY_MUTEX_H
#define _ALCHEMY_MUTEX_H

#include <alchemy/task.h>
#include <alchemy/timer.h>

typedef struct RT_MUTEX {
	uintptr_t handle;
} RT_MUTEX;

typedef struct rt_mutex_info {
	/* Handle 0: nobody. */
	RT_TASK owner;
	char name[XNOBJECT_NAME_LEN];
} RT_MUTEX_INFO;

#ifdef __cplusplus
extern "C" {
#endif

int rt_mutex_create(RT_MUTEX *mutex, const char *name);
int rt_mutex_delete(RT_MUTEX *mutex);
int rt_mutex_acquire_timed(RT_MUTEX *mutex, const struct timespec *end);
int rt_mutex_acquire_until(RT_MUTEX *mutex, RTIME end);
int rt_mutex_acquire(RT_MUTEX *mutex, RTIME timeout);
int rt_mutex_release(RT_MUTEX *mutex);
int rt_mutex_inquire(RT_MUTEX *mutex, RT_MUTEX_INFO *info);
int rt_mutex_bind(RT_MUTEX *mutex, const char *name, RTIME timeout);
int rt_mutex_unbind(RT_MUTEX *mutex);

#ifdef __cplusplus
}
#endif

#endif
