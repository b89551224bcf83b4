/* SPDX-License-Identifier: GPL-2.0-only */
/* Semaphores, with what Xenomai adds. */
#include_next <semaphore.h>

#ifndef _COBALT_SEMAPHORE_H
#define _COBALT_SEMAPHORE_H

#include <cobalt/wrappers.h>

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, sem_init(sem_t *sem, int is_shared, unsigned int value));
COBALT_DECL(int, sem_destroy(sem_t *sem));
COBALT_DECL(int, sem_post(sem_t *sem));
COBALT_DECL(int, sem_wait(sem_t *sem));
COBALT_DECL(int, sem_timedwait(sem_t *sem, const struct timespec *end));
COBALT_DECL(int, sem_trywait(sem_t *sem));
COBALT_DECL(int, sem_getvalue(sem_t *sem, int *value));

/* Wakes all threads that wait; the value stays. */
int sem_broadcast_np(sem_t *sem);

#ifdef __cplusplus
}
#endif

#endif
