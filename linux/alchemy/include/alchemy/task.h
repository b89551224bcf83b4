/* SPDX-License-Identifier: GPL-2.0-only */
/* Tasks. */
#ifndef _ALCHEMY_TASK_H
#define _ALCHEMY_TASK_H

#include <alchemy/timer.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef XNOBJECT_NAME_LEN
#define XNOBJECT_NAME_LEN 32
#endif

/* Modes of a task. */
#define T_LOCK 0x1
#define T_WARNSW 0x2
#define T_CONFORMING 0x4
#define T_JOINABLE 0x8
#define T_SUSP 0x10
/* Of version 2; without a meaning. */
#define T_FPU 0x0
#define T_CPU(cpu) 0
#define T_CPUMASK 0

#define T_LOPRIO 0
#define T_HIPRIO 99

typedef struct RT_TASK {
	uintptr_t handle;
	pthread_t thread;
} RT_TASK;

/* What a task did: `status` as cobalt_thread_stat() has it. */
struct threadobj_stat {
	int cpu;
	unsigned int status;
	uint64_t xtime;
	uint64_t msw;
	uint64_t csw;
	uint64_t xsc;
	uint32_t pf;
	uint64_t timeout;
	int schedlock;
};

typedef struct rt_task_info {
	int prio;
	struct threadobj_stat stat;
	char name[XNOBJECT_NAME_LEN];
	pid_t pid;
} RT_TASK_INFO;

/* A message to a task, or its reply. */
typedef struct rt_task_mcb {
	int flowid;
	int opcode;
	/* May be NULL if the size is 0. */
	caddr_t data;
	ssize_t size;
} RT_TASK_MCB;

#ifdef __cplusplus
extern "C" {
#endif

int rt_task_create(RT_TASK *task, const char *name, int stack, int priority, int mode);
int rt_task_start(RT_TASK *task, void (*entry)(void *argument), void *argument);
int rt_task_spawn(RT_TASK *task, const char *name, int stack, int priority, int mode, void (*entry)(void *argument),
		  void *argument);
/* The calling thread becomes a task. */
int rt_task_shadow(RT_TASK *task, const char *name, int priority, int mode);
int rt_task_delete(RT_TASK *task);
int rt_task_join(RT_TASK *task);
int rt_task_bind(RT_TASK *task, const char *name, RTIME timeout);
int rt_task_unbind(RT_TASK *task);

/* In all of these, NULL is the calling task. */
RT_TASK *rt_task_self(void);
int rt_task_same(RT_TASK *one, RT_TASK *other);
int rt_task_suspend(RT_TASK *task);
int rt_task_resume(RT_TASK *task);
int rt_task_unblock(RT_TASK *task);
int rt_task_set_affinity(RT_TASK *task, const cpu_set_t *cpus);
int rt_task_set_priority(RT_TASK *task, int priority);
int rt_task_set_mode(int clear, int set, int *old);
int rt_task_slice(RT_TASK *task, RTIME quantum);
int rt_task_inquire(RT_TASK *task, RT_TASK_INFO *info);
int rt_task_yield(void);

int rt_task_set_periodic(RT_TASK *task, RTIME first, RTIME period);
/* ETIMEDOUT: periods were missed. */
int rt_task_wait_period(unsigned long *overruns);
int rt_task_sleep(RTIME delay);
int rt_task_sleep_until(RTIME date);

/* Sends a message and waits for the reply, of which it returns the size. */
ssize_t rt_task_send_timed(RT_TASK *task, RT_TASK_MCB *message, RT_TASK_MCB *reply, const struct timespec *end);
ssize_t rt_task_send_until(RT_TASK *task, RT_TASK_MCB *message, RT_TASK_MCB *reply, RTIME end);
ssize_t rt_task_send(RT_TASK *task, RT_TASK_MCB *message, RT_TASK_MCB *reply, RTIME timeout);
/* Returns what the reply has to name. */
int rt_task_receive_timed(RT_TASK_MCB *message, const struct timespec *end);
int rt_task_receive_until(RT_TASK_MCB *message, RTIME end);
int rt_task_receive(RT_TASK_MCB *message, RTIME timeout);
int rt_task_reply(int flow, RT_TASK_MCB *reply);

#ifdef __cplusplus
}
#endif

#endif
