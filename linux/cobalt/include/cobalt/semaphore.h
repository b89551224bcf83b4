/* SPDX-License-Identifier: GPL-2.0-only */
/* Semaphores, with what Xenomai adds. */
#pragma GCC system_header
#include_next <semaphore.h>

#ifndef _COBALT_SEMAPHORE_H
#define _COBALT_SEMAPHORE_H

#include <cobalt/wrappers.h>
#include <limits.h>
#include <time.h>

/* Flags of sem_init_np. */
#define SEM_PRIO 0x0
#define SEM_FIFO 0x1
#define SEM_PULSE 0x2
#define SEM_PSHARED 0x4
#define SEM_REPORT 0x8
#define SEM_WARNDEL 0x10
#define SEM_RAWCLOCK 0x20
#define SEM_NOBUSYDEL 0x40

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, sem_init(sem_t *sem, int is_shared, unsigned int value));
COBALT_DECL(int, sem_destroy(sem_t *sem));
COBALT_DECL(int, sem_post(sem_t *sem));
COBALT_DECL(int, sem_wait(sem_t *sem));
COBALT_DECL(int, sem_timedwait(sem_t *sem, const struct timespec *end));
COBALT_DECL(int, sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *end));
COBALT_DECL(int, sem_trywait(sem_t *sem));
COBALT_DECL(int, sem_getvalue(sem_t *sem, int *value));
COBALT_DECL(sem_t *, sem_open(const char *name, int flags, ...));
COBALT_DECL(int, sem_close(sem_t *sem));
COBALT_DECL(int, sem_unlink(const char *name));

int sem_init_np(sem_t *sem, int flags, unsigned int value);
/* Wakes all threads that wait; the value stays. */
int sem_broadcast_np(sem_t *sem);

#ifdef __cplusplus
}
#endif

#endif
