/* Threads, mutexes, condition variables, spin locks, barriers and read-write locks. */
#ifndef PILLION_PTHREAD_H
#define PILLION_PTHREAD_H

#include <rtl_conf.h>
#include <rtl_sched.h>
#define __NEED_size_t
#include <bits/alltypes.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_CANCEL_ENABLE 0
#define PTHREAD_CANCEL_DISABLE 1
#define PTHREAD_CANCEL_DEFERRED 0
#define PTHREAD_CANCEL_ASYNCHRONOUS 1
#define PTHREAD_CANCELED ((void *)-1)
#define PTHREAD_EXPLICIT_SCHED 1
#define PTHREAD_INHERIT_SCHED 0
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_PROCESS_SHARED 1
#define PTHREAD_STACK_MIN 8192
#define PTHREAD_KEYS_MAX 20
#define PTHREAD_DESTRUCTOR_ITERATIONS 4
#define PTHREAD_THREADS_MAX 63
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)

typedef struct STRUCT_PTHREAD_ATTR {
	size_t stack_size;
	void *stack_addr;
	struct sched_param sched_param;
	int detachstate;
	int cpu;
	int use_fp;
} pthread_attr_t;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg);
void pthread_exit(void *result) __attribute__((__noreturn__));
int pthread_join(pthread_t thread, void **result);
int pthread_detach(pthread_t thread);
int pthread_equal(pthread_t one, pthread_t other);
int pthread_yield(void);
int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param);
int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param);
int pthread_setschedprio(pthread_t thread, int priority);

int pthread_attr_init(pthread_attr_t *attr);
int pthread_attr_destroy(pthread_attr_t *attr);
int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size);
int pthread_attr_getstacksize(const pthread_attr_t *attr, size_t *size);
int pthread_attr_setstackaddr(pthread_attr_t *attr, void *address);
int pthread_attr_getstackaddr(const pthread_attr_t *attr, void **address);
int pthread_attr_setstack(pthread_attr_t *attr, void *address, size_t size);
int pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param);
int pthread_attr_getschedparam(const pthread_attr_t *attr, struct sched_param *param);
int pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy);
int pthread_attr_getschedpolicy(const pthread_attr_t *attr, int *policy);
int pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit);
int pthread_attr_setdetachstate(pthread_attr_t *attr, int state);
int pthread_attr_getdetachstate(const pthread_attr_t *attr, int *state);
int pthread_attr_setcpu_np(pthread_attr_t *attr, int cpu);
int pthread_attr_getcpu_np(const pthread_attr_t *attr, int *cpu);
int pthread_attr_setcpu(pthread_attr_t *attr, int cpu);
int pthread_attr_getcpu(const pthread_attr_t *attr, int *cpu);
int pthread_attr_setfp_np(pthread_attr_t *attr, int flag);
int pthread_attr_getfp_np(const pthread_attr_t *attr, int *flag);
#define pthread_attr_setfp(attr, flag) pthread_attr_setfp_np((attr), (flag))
#define pthread_attr_getfp(attr, flag) pthread_attr_getfp_np((attr), (flag))

int pthread_cancel(pthread_t thread);
int pthread_setcancelstate(int state, int *old);
int pthread_setcanceltype(int type, int *old);
void pthread_testcancel(void);

struct rtl_cleanup_struct {
	void (*routine)(void *);
	void *arg;
	struct rtl_cleanup_struct *next;
};
void rtl_cleanup_push(struct rtl_cleanup_struct *frame, void (*routine)(void *), void *arg);
void rtl_cleanup_pop(struct rtl_cleanup_struct *frame, int execute);
#define pthread_cleanup_push(routine, arg) do { \
	struct rtl_cleanup_struct rtl_cleanup_; \
	rtl_cleanup_push(&rtl_cleanup_, (void (*)(void *))(routine), (void *)(arg));
#define pthread_cleanup_pop(execute) \
	rtl_cleanup_pop(&rtl_cleanup_, (execute)); \
} while (0)

typedef int pthread_key_t;
int pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int pthread_key_delete(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *value);
void *pthread_getspecific(pthread_key_t key);

typedef struct {
	unsigned long state, queue;
} pthread_once_t;
#define PTHREAD_ONCE_INIT { 0, 0 }
int pthread_once(pthread_once_t *once, void (*routine)(void));

/* Mutexes. `flags` combines the type and the protocol. */
typedef struct pthread_mutex {
	volatile unsigned int owner, flags, ceiling, depth;
	unsigned long queue;
	struct pthread_mutex *next;
} pthread_mutex_t;

typedef struct {
	unsigned int flags, ceiling;
} pthread_mutexattr_t;

#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_DEFAULT PTHREAD_MUTEX_NORMAL
#define PTHREAD_MUTEX_SPINLOCK_NP 1
#define PTHREAD_MUTEX_RECURSIVE 2
#define PTHREAD_MUTEX_RECURSIVE_NP PTHREAD_MUTEX_RECURSIVE
#define PTHREAD_MUTEX_ERRORCHECK 3
#define PTHREAD_MUTEX_ERRORCHECK_NP PTHREAD_MUTEX_ERRORCHECK
#define PTHREAD_PRIO_NONE 0
#define PTHREAD_PRIO_INHERIT 1
#define PTHREAD_PRIO_PROTECT 2
#define PTHREAD_MUTEX_STALLED 0
#define PTHREAD_MUTEX_ROBUST 1

#define PTHREAD_MUTEX_INITIALIZER { 0, PTHREAD_MUTEX_NORMAL, 0, 0, 0, 0 }
#define PTHREAD_SPINLOCK_MUTEX_INITIALIZER_NP { 0, PTHREAD_MUTEX_SPINLOCK_NP, 0, 0, 0, 0 }
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP { 0, PTHREAD_MUTEX_RECURSIVE, 0, 0, 0, 0 }
#define PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP { 0, PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0, 0 }

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *time);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int pthread_mutex_consistent(pthread_mutex_t *mutex);
int pthread_mutex_getprioceiling(const pthread_mutex_t *mutex, int *ceiling);
int pthread_mutex_setprioceiling(pthread_mutex_t *mutex, int ceiling, int *old);

int pthread_mutexattr_init(pthread_mutexattr_t *attr);
int pthread_mutexattr_destroy(pthread_mutexattr_t *attr);
int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int type);
int pthread_mutexattr_gettype(const pthread_mutexattr_t *attr, int *type);
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attr, int protocol);
int pthread_mutexattr_getprotocol(const pthread_mutexattr_t *attr, int *protocol);
int pthread_mutexattr_setprioceiling(pthread_mutexattr_t *attr, int ceiling);
int pthread_mutexattr_getprioceiling(const pthread_mutexattr_t *attr, int *ceiling);
int pthread_mutexattr_setrobust(pthread_mutexattr_t *attr, int robust);
int pthread_mutexattr_getrobust(const pthread_mutexattr_t *attr, int *robust);
int pthread_mutexattr_setpshared(pthread_mutexattr_t *attr, int shared);
int pthread_mutexattr_getpshared(const pthread_mutexattr_t *attr, int *shared);

/* Condition variables. */
typedef struct {
	unsigned long queue;
	clockid_t clock;
} pthread_cond_t;

typedef struct {
	clockid_t clock;
} pthread_condattr_t;

#define PTHREAD_COND_INITIALIZER { 0, 0 }

int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int pthread_cond_destroy(pthread_cond_t *cond);
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *time);
int pthread_cond_signal(pthread_cond_t *cond);
int pthread_cond_broadcast(pthread_cond_t *cond);
int pthread_condattr_init(pthread_condattr_t *attr);
int pthread_condattr_destroy(pthread_condattr_t *attr);
int pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock);
int pthread_condattr_setpshared(pthread_condattr_t *attr, int shared);
int pthread_condattr_getpshared(const pthread_condattr_t *attr, int *shared);

/* Spin locks. Interrupts are off while a thread holds one. */
typedef struct {
	int taken;
} pthread_spinlock_t;

int pthread_spin_init(pthread_spinlock_t *lock, int shared);
int pthread_spin_destroy(pthread_spinlock_t *lock);
int pthread_spin_lock(pthread_spinlock_t *lock);
int pthread_spin_trylock(pthread_spinlock_t *lock);
int pthread_spin_unlock(pthread_spinlock_t *lock);

/* Barriers. */
typedef struct {
	unsigned int count;
	unsigned long queue;
} pthread_barrier_t;
typedef int pthread_barrierattr_t;

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr, unsigned int count);
int pthread_barrier_destroy(pthread_barrier_t *barrier);
int pthread_barrier_wait(pthread_barrier_t *barrier);
int pthread_barrierattr_init(pthread_barrierattr_t *attr);
int pthread_barrierattr_destroy(pthread_barrierattr_t *attr);
int pthread_barrierattr_setpshared(pthread_barrierattr_t *attr, int shared);
int pthread_barrierattr_getpshared(const pthread_barrierattr_t *attr, int *shared);

/* Read-write locks: held by many readers or by one writer. */
typedef struct {
	long users;
	unsigned long readers, writers;
} pthread_rwlock_t;
typedef int pthread_rwlockattr_t;

#define PTHREAD_RWLOCK_INITIALIZER { 0, 0, 0 }

int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attr);
int pthread_rwlock_destroy(pthread_rwlock_t *lock);
int pthread_rwlock_rdlock(pthread_rwlock_t *lock);
int pthread_rwlock_wrlock(pthread_rwlock_t *lock);
int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock);
int pthread_rwlock_trywrlock(pthread_rwlock_t *lock);
int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *time);
int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *time);
int pthread_rwlock_unlock(pthread_rwlock_t *lock);

#ifdef __cplusplus
}
#endif

#endif
