/* SPDX-License-Identifier: GPL-2.0-only */
/* Scheduling: Linux's policies, and SCHED_WEAK. */
#ifndef _EVL_SCHED_H
#define _EVL_SCHED_H

#include <evl/factory.h>
#include <sched.h>

#define SCHED_WEAK 43
#define SCHED_QUOTA 44
#define SCHED_TP 45

#define EVL_CPU_OFFLINE 1
#define EVL_CPU_OOB 2
#define EVL_CPU_ISOL 4

struct evl_sched_attrs {
	int sched_policy;
	int sched_priority;
	union {
		struct {
			struct timespec quantum;
		} rr;
		struct {
			__s32 group;
		} quota;
		struct {
			__s32 partition;
		} tp;
	} sched_u;
};

#define sched_rr_quantum sched_u.rr.quantum
#define sched_quota_group sched_u.quota.group
#define sched_tp_partition sched_u.tp.partition

#ifdef __cplusplus
extern "C" {
#endif

int evl_set_schedattr(int efd, const struct evl_sched_attrs *attrs);
int evl_get_schedattr(int efd, struct evl_sched_attrs *attrs);
int evl_yield(void);
/* The state of a processor: bits of these. */
int evl_get_cpustate(int cpu, int *statep);

#ifdef __cplusplus
}
#endif

#endif
