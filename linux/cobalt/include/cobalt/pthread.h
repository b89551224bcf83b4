/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads, with what Xenomai adds. */
#include_next <pthread.h>

#ifndef _COBALT_PTHREAD_H
#define _COBALT_PTHREAD_H

#include <cobalt/wrappers.h>
#include <time.h>

/* Modes of a thread. One with PTHREAD_WARNSW is enough for SIGDEBUG to all of its process. */
#define PTHREAD_WARNSW 0x00004000
#define PTHREAD_CONFORMING 0x00080000

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument));
COBALT_DECL(int, pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes));
COBALT_DECL(int, pthread_mutex_destroy(pthread_mutex_t *mutex));
COBALT_DECL(int, pthread_mutex_lock(pthread_mutex_t *mutex));
COBALT_DECL(int, pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *end));
COBALT_DECL(int, pthread_mutex_trylock(pthread_mutex_t *mutex));
COBALT_DECL(int, pthread_mutex_unlock(pthread_mutex_t *mutex));
COBALT_DECL(int, pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes));
COBALT_DECL(int, pthread_cond_destroy(pthread_cond_t *cond));
COBALT_DECL(int, pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex));
COBALT_DECL(int, pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *end));
COBALT_DECL(int, pthread_cond_signal(pthread_cond_t *cond));
COBALT_DECL(int, pthread_cond_broadcast(pthread_cond_t *cond));

/* Clears and sets modes of the calling thread. */
int pthread_setmode_np(int clear, int set, int *old);

/* As in version 2. The thread is the caller; the clock is CLOCK_REALTIME. */
int pthread_make_periodic_np(pthread_t thread, struct timespec *start, struct timespec *period);
int pthread_wait_np(unsigned long *overruns);

static inline int pthread_set_mode_np(int clear, int set)
{
	return pthread_setmode_np(clear, set, 0);
}

static inline int pthread_set_name_np(pthread_t thread, const char *name)
{
	extern int pthread_setname_np(pthread_t thread, const char *name);

	return pthread_setname_np(thread, name);
}

#ifdef __cplusplus
}
#endif

#endif
