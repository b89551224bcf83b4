/*
 * Types that RTLinux defines differently from the C library. All headers of the C library take
 * their types from this file, so these definitions hold whichever header a program includes first.
 */
#ifdef __cplusplus
extern "C" {
#endif

#ifndef __DEFINED_pthread_t
struct rtl_thread_struct;
typedef struct rtl_thread_struct *pthread_t;
#define __DEFINED_pthread_t
#endif

#ifndef __DEFINED_clockid_t
struct rtl_clock;
typedef struct rtl_clock *clockid_t;
#define __DEFINED_clockid_t
#endif

#ifndef __DEFINED_sigset_t
typedef unsigned long sigset_t;
typedef unsigned long rtl_sigset_t;
#define __DEFINED_sigset_t
#endif

#ifdef __cplusplus
}
#endif

/* Only <pthread.h> defines these. */
#define __DEFINED_pthread_attr_t
#define __DEFINED_pthread_mutex_t
#define __DEFINED_pthread_mutexattr_t
#define __DEFINED_pthread_cond_t
#define __DEFINED_pthread_condattr_t
#define __DEFINED_pthread_rwlock_t
#define __DEFINED_pthread_rwlockattr_t
#define __DEFINED_pthread_barrier_t
#define __DEFINED_pthread_barrierattr_t
#define __DEFINED_pthread_spinlock_t
#define __DEFINED_pthread_once_t
#define __DEFINED_pthread_key_t

#include_next <bits/alltypes.h>
