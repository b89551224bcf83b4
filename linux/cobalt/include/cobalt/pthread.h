/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads, with what Xenomai adds. */
#pragma GCC system_header
#include_next <pthread.h>

#ifndef _COBALT_PTHREAD_H
#define _COBALT_PTHREAD_H

#include <cobalt/wrappers.h>
#include <sched.h>
#include <time.h>

/* Modes of a thread. Setting any of them also takes a real-time thread to primary mode. */
#define PTHREAD_WARNSW 0x00004000
#define PTHREAD_LOCK_SCHED 0x00001000
#define PTHREAD_DISABLE_LOCKBREAK 0x00100000
#define PTHREAD_CONFORMING 0x00000000
/* Its name in version 2. */
#define PTHREAD_PRIMARY PTHREAD_CONFORMING

/* Attributes of a thread with a policy beyond POSIX. */
typedef struct pthread_attr_ex {
	pthread_attr_t std;
	struct {
		int personality;
		int sched_policy;
		struct sched_param_ex sched_param;
	} nonstd;
} pthread_attr_ex_t;

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument));
COBALT_DECL(int, pthread_join(pthread_t thread, void **result));
COBALT_DECL(int, pthread_kill(pthread_t thread, int signal));
COBALT_DECL(int, pthread_setname_np(pthread_t thread, const char *name));
COBALT_DECL(int, pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *parameters));
COBALT_DECL(int, pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *parameters));
COBALT_DECL(int, pthread_setschedprio(pthread_t thread, int priority));
COBALT_DECL(int, pthread_yield(void));

COBALT_DECL(int, pthread_mutexattr_init(pthread_mutexattr_t *attributes));
COBALT_DECL(int, pthread_mutexattr_destroy(pthread_mutexattr_t *attributes));
COBALT_DECL(int, pthread_mutexattr_gettype(const pthread_mutexattr_t *attributes, int *type));
COBALT_DECL(int, pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int type));
COBALT_DECL(int, pthread_mutexattr_getprotocol(const pthread_mutexattr_t *attributes, int *protocol));
COBALT_DECL(int, pthread_mutexattr_setprotocol(pthread_mutexattr_t *attributes, int protocol));
COBALT_DECL(int, pthread_mutexattr_getpshared(const pthread_mutexattr_t *attributes, int *is_shared));
COBALT_DECL(int, pthread_mutexattr_setpshared(pthread_mutexattr_t *attributes, int is_shared));
COBALT_DECL(int, pthread_mutexattr_getprioceiling(const pthread_mutexattr_t *attributes, int *ceiling));
COBALT_DECL(int, pthread_mutexattr_setprioceiling(pthread_mutexattr_t *attributes, int ceiling));
COBALT_DECL(int, pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes));
COBALT_DECL(int, pthread_mutex_destroy(pthread_mutex_t *mutex));
COBALT_DECL(int, pthread_mutex_lock(pthread_mutex_t *mutex));
COBALT_DECL(int, pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *end));
COBALT_DECL(int, pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *end));
COBALT_DECL(int, pthread_mutex_trylock(pthread_mutex_t *mutex));
COBALT_DECL(int, pthread_mutex_unlock(pthread_mutex_t *mutex));
COBALT_DECL(int, pthread_mutex_consistent(pthread_mutex_t *mutex));
COBALT_DECL(int, pthread_mutex_getprioceiling(const pthread_mutex_t *mutex, int *ceiling));
COBALT_DECL(int, pthread_mutex_setprioceiling(pthread_mutex_t *mutex, int ceiling, int *old));

COBALT_DECL(int, pthread_condattr_init(pthread_condattr_t *attributes));
COBALT_DECL(int, pthread_condattr_destroy(pthread_condattr_t *attributes));
COBALT_DECL(int, pthread_condattr_getclock(const pthread_condattr_t *attributes, clockid_t *clock));
COBALT_DECL(int, pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock));
COBALT_DECL(int, pthread_condattr_getpshared(const pthread_condattr_t *attributes, int *is_shared));
COBALT_DECL(int, pthread_condattr_setpshared(pthread_condattr_t *attributes, int is_shared));
COBALT_DECL(int, pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes));
COBALT_DECL(int, pthread_cond_destroy(pthread_cond_t *cond));
COBALT_DECL(int, pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex));
COBALT_DECL(int, pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *end));
COBALT_DECL(int, pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
					const struct timespec *end));
COBALT_DECL(int, pthread_cond_signal(pthread_cond_t *cond));
COBALT_DECL(int, pthread_cond_broadcast(pthread_cond_t *cond));

/* Clears and sets modes of the calling thread. */
int pthread_setmode_np(int clear, int set, int *old);

int pthread_create_ex(pthread_t *thread, const pthread_attr_ex_t *attributes, void *(*start)(void *), void *argument);
int pthread_getschedparam_ex(pthread_t thread, int *policy, struct sched_param_ex *parameters);
int pthread_setschedparam_ex(pthread_t thread, int policy, const struct sched_param_ex *parameters);
int pthread_attr_init_ex(pthread_attr_ex_t *attributes);
int pthread_attr_destroy_ex(pthread_attr_ex_t *attributes);
int pthread_attr_getschedpolicy_ex(const pthread_attr_ex_t *attributes, int *policy);
int pthread_attr_setschedpolicy_ex(pthread_attr_ex_t *attributes, int policy);
int pthread_attr_getschedparam_ex(const pthread_attr_ex_t *attributes, struct sched_param_ex *parameters);
int pthread_attr_setschedparam_ex(pthread_attr_ex_t *attributes, const struct sched_param_ex *parameters);
int pthread_attr_getinheritsched_ex(const pthread_attr_ex_t *attributes, int *inherits);
int pthread_attr_setinheritsched_ex(pthread_attr_ex_t *attributes, int inherits);
int pthread_attr_getdetachstate_ex(const pthread_attr_ex_t *attributes, int *state);
int pthread_attr_setdetachstate_ex(pthread_attr_ex_t *attributes, int state);
int pthread_attr_getstacksize_ex(const pthread_attr_ex_t *attributes, size_t *size);
int pthread_attr_setstacksize_ex(pthread_attr_ex_t *attributes, size_t size);
int pthread_attr_getscope_ex(const pthread_attr_ex_t *attributes, int *scope);
int pthread_attr_setscope_ex(pthread_attr_ex_t *attributes, int scope);
int pthread_attr_getpersonality_ex(const pthread_attr_ex_t *attributes, int *personality);
int pthread_attr_setpersonality_ex(pthread_attr_ex_t *attributes, int personality);

/* As in version 2. The clock is CLOCK_REALTIME. */
int pthread_make_periodic_np(pthread_t thread, struct timespec *start, struct timespec *period);
int pthread_wait_np(unsigned long *overruns);
int pthread_set_mode_np(int clear, int set);
int pthread_set_name_np(pthread_t thread, const char *name);

#ifdef __cplusplus
}
#endif

#endif
