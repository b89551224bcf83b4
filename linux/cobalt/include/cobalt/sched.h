/* SPDX-License-Identifier: GPL-2.0-only */
/* Scheduling, with Cobalt's policies beyond POSIX. */
#pragma GCC system_header
#include_next <sched.h>

#ifndef _COBALT_SCHED_H
#define _COBALT_SCHED_H

#include <cobalt/wrappers.h>
#include <sys/types.h>
#include <time.h>

#define SCHED_COBALT 42
#define SCHED_WEAK 43
#ifndef SCHED_SPORADIC
#define SCHED_SPORADIC 10
#endif
#define SCHED_TP 11
#define SCHED_QUOTA 12

struct __sched_ss_param {
	int __sched_low_priority;
	struct timespec __sched_repl_period;
	struct timespec __sched_init_budget;
	int __sched_max_repl;
};

struct __sched_rr_param {
	struct timespec __sched_rr_quantum;
};

struct __sched_tp_param {
	int __sched_partition;
};

struct __sched_quota_param {
	int __sched_group;
};

struct sched_param_ex {
	int sched_priority;
	union {
		struct __sched_ss_param ss;
		struct __sched_rr_param rr;
		struct __sched_tp_param tp;
		struct __sched_quota_param quota;
	} sched_u;
};

#define sched_ss_low_priority sched_u.ss.__sched_low_priority
#define sched_ss_repl_period sched_u.ss.__sched_repl_period
#define sched_ss_init_budget sched_u.ss.__sched_init_budget
#define sched_ss_max_repl sched_u.ss.__sched_max_repl
#define sched_rr_quantum sched_u.rr.__sched_rr_quantum
#define sched_tp_partition sched_u.tp.__sched_partition
#define sched_quota_group sched_u.quota.__sched_group

struct sched_tp_window {
	struct timespec offset;
	struct timespec duration;
	int ptid;
};

enum { sched_tp_install, sched_tp_uninstall, sched_tp_start, sched_tp_stop };

struct __sched_config_tp {
	int op;
	int nr_windows;
	struct sched_tp_window windows[0];
};

#define sched_tp_confsz(windows) (sizeof(struct __sched_config_tp) + (windows) * sizeof(struct sched_tp_window))

enum { sched_quota_add, sched_quota_remove, sched_quota_force_remove, sched_quota_set, sched_quota_get };

struct __sched_config_quota {
	int op;
	union {
		struct {
			int pshared;
		} add;
		struct {
			int tgid;
		} remove;
		struct {
			int tgid;
			int quota;
			int quota_peak;
		} set;
		struct {
			int tgid;
		} get;
	};
	struct __sched_quota_info {
		int tgid;
		int quota;
		int quota_peak;
		int quota_sum;
	} info;
};

#define sched_quota_confsz() sizeof(struct __sched_config_quota)

union sched_config {
	struct __sched_config_tp tp;
	struct __sched_config_quota quota;
};

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, sched_yield(void));
COBALT_DECL(int, sched_get_priority_min(int policy));
COBALT_DECL(int, sched_get_priority_max(int policy));
COBALT_DECL(int, sched_setscheduler(pid_t pid, int policy, const struct sched_param *parameters));
COBALT_DECL(int, sched_getscheduler(pid_t pid));

int sched_get_priority_min_ex(int policy);
int sched_get_priority_max_ex(int policy);
int sched_setscheduler_ex(pid_t pid, int policy, const struct sched_param_ex *parameters);
int sched_getscheduler_ex(pid_t pid, int *policy, struct sched_param_ex *parameters);
/* No partitions and no groups of threads with a quota: the error is EINVAL. */
int sched_setconfig_np(int cpu, int policy, const union sched_config *config, size_t size);
ssize_t sched_getconfig_np(int cpu, int policy, union sched_config *config, size_t size, size_t *needed);

#ifdef __cplusplus
}
#endif

#endif
