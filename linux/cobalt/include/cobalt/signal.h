/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals: SIGDEBUG says why a thread went to Linux; pseudo signals act on a thread's state. */
#pragma GCC system_header
#include_next <signal.h>

#ifndef _COBALT_SIGNAL_H
#define _COBALT_SIGNAL_H

#include <cobalt/wrappers.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Suspend, resume, end a wait, end a wait and go to Linux, become an ordinary thread. */
#define SIGSUSP (SIGRTMAX + 1)
#define SIGRESM (SIGRTMAX + 2)
#define SIGRELS (SIGRTMAX + 3)
#define SIGKICK (SIGRTMAX + 4)
#define SIGDEMT (SIGRTMAX + 5)

#define SIGSHADOW SIGWINCH
#define SIGSHADOW_ACTION_HARDEN 1
#define SIGSHADOW_ACTION_BACKTRACE 2
#define SIGSHADOW_ACTION_HOME 3
#define SIGSHADOW_BACKTRACE_DEPTH 16
#define sigshadow_action(code) ((code) & 0xff)
#define sigshadow_arg(code) (((code) >> 8) & 0xff)

#define SIGDEBUG SIGXCPU
#define SIGDEBUG_UNDEFINED 0
#define SIGDEBUG_MIGRATE_SIGNAL 1
#define SIGDEBUG_MIGRATE_SYSCALL 2
#define SIGDEBUG_MIGRATE_FAULT 3
#define SIGDEBUG_MIGRATE_PRIOINV 4
#define SIGDEBUG_NOMLOCK 5
#define SIGDEBUG_WATCHDOG 6
#define SIGDEBUG_RESCNT_IMBALANCE 7
#define SIGDEBUG_LOCK_BREAK 8
#define SIGDEBUG_MUTEX_SLEEP 9

#define sigdebug_marker 0xfccf0000
#define sigdebug_code(info) ((info)->si_value.sival_int)
#define sigdebug_reason(info) (sigdebug_code(info) & 0xff)
#define sigdebug_marked(info) ((sigdebug_code(info) & 0xffff0000) == sigdebug_marker)

#ifdef __cplusplus
extern "C" {
#endif

COBALT_DECL(int, sigpending(sigset_t *set));
COBALT_DECL(int, sigwait(const sigset_t *set, int *signal));
COBALT_DECL(int, sigwaitinfo(const sigset_t *set, siginfo_t *info));
COBALT_DECL(int, sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout));
COBALT_DECL(int, kill(pid_t pid, int signal));
COBALT_DECL(int, sigqueue(pid_t pid, int signal, const union sigval value));

#ifdef __cplusplus
}
#endif

#endif
