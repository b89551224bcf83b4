/* SPDX-License-Identifier: GPL-2.0-only */
/* Semaphores. */
#ifndef _ALCHEMY_SEM_H
#define _ALCHEMY_SEM_H

#include <alchemy/timer.h>

#ifndef XNOBJECT_NAME_LEN
#define XNOBJECT_NAME_LEN 32
#endif

/* Modes: waiters are served by priority; what nobody waits for is not counted. */
#define S_FIFO 0x0
#define S_PRIO 0x1
#define S_PULSE 0x2

typedef struct RT_SEM {
	uintptr_t handle;
} RT_SEM;

typedef struct rt_sem_info {
	unsigned long count;
	int nwaiters;
	char name[XNOBJECT_NAME_LEN];
} RT_SEM_INFO;

#ifdef __cplusplus
extern "C" {
#endif

int rt_sem_create(RT_SEM *sem, const char *name, unsigned long count, int mode);
int rt_sem_delete(RT_SEM *sem);
int rt_sem_p_timed(RT_SEM *sem, const struct timespec *end);
int rt_sem_p_until(RT_SEM *sem, RTIME end);
int rt_sem_p(RT_SEM *sem, RTIME timeout);
int rt_sem_v(RT_SEM *sem);
int rt_sem_broadcast(RT_SEM *sem);
int rt_sem_inquire(RT_SEM *sem, RT_SEM_INFO *info);
int rt_sem_bind(RT_SEM *sem, const char *name, RTIME timeout);
int rt_sem_unbind(RT_SEM *sem);

#ifdef __cplusplus
}
#endif

#endif
