/* SPDX-License-Identifier: GPL-2.0-only */
/* What programs use of Cobalt beside POSIX. Results are 0 or the negative number of an error. */
#ifndef _COBALT_SYS_COBALT_H
#define _COBALT_SYS_COBALT_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>
#include <time.h>

#ifndef XNOBJECT_NAME_LEN
#define XNOBJECT_NAME_LEN 32
#endif

/* States of a thread, in the results of cobalt_thread_mode and cobalt_thread_stat. */
#define XNSUSP 0x00000001
#define XNPEND 0x00000002
#define XNDELAY 0x00000004
#define XNREADY 0x00000008
#define XNDORMANT 0x00000010
#define XNZOMBIE 0x00000020
#define XNMAPPED 0x00000040
/* The thread is in Linux. */
#define XNRELAX 0x00000080
#define XNHELD 0x00000200
#define XNBOOST 0x00000400
#define XNSSTEP 0x00000800
#define XNLOCK 0x00001000
#define XNRRB 0x00002000
#define XNWARN 0x00004000
#define XNFPU 0x00008000
#define XNROOT 0x00010000
#define XNWEAK 0x00020000
#define XNUSER 0x00040000
#define XNJOINED 0x00080000
#define XNTRAPLB 0x00100000
#define XNDEBUG 0x00200000

#define COBALT_EVENT_FIFO 0x0
#define COBALT_EVENT_PRIO 0x1
#define COBALT_EVENT_SHARED 0x2
#define COBALT_EVENT_ALL 0x0
#define COBALT_EVENT_ANY 0x1

/* A group of 32 flags. */
typedef struct cobalt_event {
	struct cobalt_event_state *state;
} cobalt_event_t;

struct cobalt_event_info {
	unsigned int value;
	int flags;
	int nr_wait;
};

struct cobalt_sem_info {
	int value;
	int flags;
	int nr_wait;
};

#define COBALT_MONITOR_SHARED 0x1
#define COBALT_MONITOR_WAITGRANT 0x0
#define COBALT_MONITOR_WAITDRAIN 0x1

/* A lock with waiters that are woken one by one, or all together. */
typedef struct cobalt_monitor {
	unsigned int magic;
	int flags;
	clockid_t clock;
	struct cobalt_monitor_state *state;
} cobalt_monitor_t;

/* Who waits, as cobalt_monitor_grant takes it. */
struct xnthread_user_window;

struct cobalt_threadstat {
	unsigned long long xtime;
	unsigned long long timeout;
	unsigned long long msw;
	unsigned long long csw;
	unsigned long long xsc;
	unsigned int status;
	unsigned int pf;
	int cpu;
	int cprio;
	char name[XNOBJECT_NAME_LEN];
	char personality[XNOBJECT_NAME_LEN];
};

/* Requests of cobalt_corectl. */
#define _CC_COBALT_GET_VERSION 0
#define _CC_COBALT_GET_NR_PIPES 1
#define _CC_COBALT_GET_NR_TIMERS 2
#define _CC_COBALT_GET_POLICIES 3
#define _CC_COBALT_SCHED_WEAK 1
#define _CC_COBALT_SCHED_SPORADIC 2
#define _CC_COBALT_SCHED_QUOTA 4
#define _CC_COBALT_SCHED_TP 8
#define _CC_COBALT_GET_DEBUG 4
#define _CC_COBALT_GET_WATCHDOG 5
#define _CC_COBALT_GET_CORE_STATUS 6
#define _CC_COBALT_START_CORE 7
#define _CC_COBALT_STOP_CORE 8
#define _CC_COBALT_GET_NET_CONFIG 9

enum cobalt_run_states {
	COBALT_STATE_DISABLED,
	COBALT_STATE_RUNNING,
	COBALT_STATE_STOPPED,
	COBALT_STATE_TEARDOWN,
	COBALT_STATE_WARMUP,
};

#ifdef __cplusplus
extern "C" {
#endif

int cobalt_thread_mode(void);
int cobalt_thread_harden(void);
int cobalt_thread_relax(void);
int cobalt_thread_join(pthread_t thread);
pid_t cobalt_thread_pid(pthread_t thread);
int cobalt_thread_probe(pid_t pid);
int cobalt_thread_stat(pid_t pid, struct cobalt_threadstat *stat);

/* Cobalt's own number of a policy's priority. */
int cobalt_sched_weighted_prio(int policy, const struct sched_param_ex *parameters);

int cobalt_event_init(cobalt_event_t *event, unsigned int value, int flags);
int cobalt_event_post(cobalt_event_t *event, unsigned int bits);
/* A time of CLOCK_MONOTONIC; without one, for ever; of zero, not at all. */
int cobalt_event_wait(cobalt_event_t *event, unsigned int bits, unsigned int *bits_r, int mode,
		      const struct timespec *timeout);
unsigned long cobalt_event_clear(cobalt_event_t *event, unsigned int bits);
int cobalt_event_inquire(cobalt_event_t *event, struct cobalt_event_info *info, pid_t *waiters, size_t size);
int cobalt_event_destroy(cobalt_event_t *event);

int cobalt_sem_inquire(sem_t *sem, struct cobalt_sem_info *info, pid_t *waiters, size_t size);

int cobalt_monitor_init(cobalt_monitor_t *monitor, clockid_t clock, int flags);
int cobalt_monitor_destroy(cobalt_monitor_t *monitor);
int cobalt_monitor_enter(cobalt_monitor_t *monitor);
int cobalt_monitor_exit(cobalt_monitor_t *monitor);
/* A time of the monitor's clock. */
int cobalt_monitor_wait(cobalt_monitor_t *monitor, int event, const struct timespec *end);
void cobalt_monitor_grant(cobalt_monitor_t *monitor, struct xnthread_user_window *window);
int cobalt_monitor_grant_sync(cobalt_monitor_t *monitor, struct xnthread_user_window *window);
void cobalt_monitor_grant_all(cobalt_monitor_t *monitor);
int cobalt_monitor_grant_all_sync(cobalt_monitor_t *monitor);
void cobalt_monitor_drain(cobalt_monitor_t *monitor);
int cobalt_monitor_drain_sync(cobalt_monitor_t *monitor);
void cobalt_monitor_drain_all(cobalt_monitor_t *monitor);
int cobalt_monitor_drain_all_sync(cobalt_monitor_t *monitor);
struct xnthread_user_window *cobalt_get_current_window(void);

/* What the real-time side is; -EINVAL: there is no such request, or not of a program. */
int cobalt_corectl(int request, void *buffer, size_t size);
/* Ends the program if the calling thread is in primary mode. */
void cobalt_assert_nrt(void);

#ifdef __cplusplus
}
#endif

#endif
