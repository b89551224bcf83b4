/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads. */
#ifndef _EVL_THREAD_H
#define _EVL_THREAD_H

#include <evl/factory.h>
#include <evl/sched.h>
#include <signal.h>
#include <stdbool.h>

/* Modes: what a thread is told of, and how. */
#define EVL_T_WOSS 0x01000000
#define EVL_T_WOLI 0x02000000
#define EVL_T_WOSX 0x04000000
#define EVL_T_WOSO 0x08000000
#define EVL_T_HMSIG 0x10000000
#define EVL_T_HMOBS 0x20000000
/* The same, as they were called first. */
#define T_WOSS EVL_T_WOSS
#define T_WOLI EVL_T_WOLI
#define T_WOSX EVL_T_WOSX
#define T_WOSO EVL_T_WOSO
#define T_HMSIG EVL_T_HMSIG
#define T_HMOBS EVL_T_HMOBS

/* States. */
#define EVL_T_PEND 0x00000002
#define EVL_T_READY 0x00000008
#define EVL_T_DORMANT 0x00000010
#define EVL_T_INBAND 0x00000080
#define EVL_T_WEAK 0x00001000
#define EVL_T_USER 0x00002000
#define EVL_T_OBSERV 0x00004000

struct evl_thread_state {
	struct evl_sched_attrs eattrs;
	__u32 cpu;
	__u32 state;
	/* Ways to Linux, waits, calls that primary mode answered; the last one is always 0. */
	__u32 isw;
	__u32 csw;
	__u32 sc;
	__u32 rwa;
	/* Processor time in primary mode, in nanoseconds. */
	__u64 xtime;
};

/* Sent for what a thread is told of, with a cause. */
#ifndef SIGDEBUG
#define SIGDEBUG SIGXCPU
#endif
#define EVL_HMDIAG_SIGDEMOTE 1
#define EVL_HMDIAG_SYSDEMOTE 2
#define EVL_HMDIAG_EXDEMOTE 3
#define EVL_HMDIAG_WATCHDOG 4
#define EVL_HMDIAG_LKDEPEND 5
#define EVL_HMDIAG_LKIMBALANCE 6
#define EVL_HMDIAG_LKSLEEP 7
#define EVL_HMDIAG_STAGEX 8
#define EVL_HMDIAG_OVERRUN 9
/* Not one of EVL's: the memory cannot be pinned, so no thread of the process is in primary mode. */
#define EVL_HMDIAG_MEMORY 64

#define sigdebug_marked(info) evl_is_sigdebug(info)
#define sigdebug_cause(info) evl_sigdebug_cause(info)

#ifdef __cplusplus
extern "C" {
#endif

int evl_attach_thread(int flags, const char *format, ...);
int evl_detach_thread(int flags);
int evl_get_self(void);
int evl_switch_oob(void);
int evl_switch_inband(void);
bool evl_is_inband(void);
int evl_get_state(int efd, struct evl_thread_state *state);
int evl_unblock_thread(int efd);
int evl_demote_thread(int efd);
int evl_set_thread_mode(int efd, int mask, int *old);
int evl_clear_thread_mode(int efd, int mask, int *old);

bool evl_is_sigdebug(const siginfo_t *info);
int evl_sigdebug_cause(const siginfo_t *info);
/* A handler that says what the cause is. */
void evl_sigdebug_handler(int signal, siginfo_t *info, void *context);

#define evl_attach_self(...) evl_attach_thread(EVL_CLONE_PRIVATE, __VA_ARGS__)
#define evl_detach_self() evl_detach_thread(0)

#ifdef __cplusplus
}
#endif

#endif
