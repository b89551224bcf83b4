// SPDX-License-Identifier: GPL-2.0-only
/* Names of the numbers that tasks show. */
#include <pillion_channel.h>
#include <pillion_dual.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "names.h"

static const char *const task_states[] = {
	[PILLION_TASK_NONE] = "none",
	[PILLION_TASK_STOPPED] = "stopped",
	[PILLION_TASK_STARTING] = "starting",
	[PILLION_TASK_RUNNING] = "running",
	[PILLION_TASK_STOPPING] = "stopping",
	[PILLION_TASK_FAULTED] = "faulted",
};

static const char *const thread_states[] = {
	[PILLION_THREAD_FREE] = "free",
	[PILLION_THREAD_READY] = "ready",
	[PILLION_THREAD_PERIODIC] = "periodic",
	[PILLION_THREAD_SLEEPING] = "sleeping",
	[PILLION_THREAD_BLOCKED] = "blocked",
	[PILLION_THREAD_SUSPENDED] = "suspended",
	[PILLION_THREAD_ENDED] = "ended",
};

static const char *const modes[] = {
	[PILLION_MODE_REAL_TIME] = "real-time",
	[PILLION_MODE_LINUX] = "linux",
	[PILLION_MODE_INTERRUPT] = "interrupt",
};

static const char *const dual_modes[] = {
	[PILLION_DUAL_SECONDARY] = "linux",
	[PILLION_DUAL_PRIMARY] = "primary",
};

static const char *const left[] = {
	[PILLION_DUAL_LEFT_RECALL] = "recall",
	[PILLION_DUAL_LEFT_CALL] = "call",
	[PILLION_DUAL_LEFT_FAULT] = "page fault",
	[PILLION_DUAL_LEFT_EXCEPTION] = "exception",
	[PILLION_DUAL_LEFT_INSTRUCTION] = "instruction",
	[PILLION_DUAL_LEFT_REFUSED] = "refused",
	[PILLION_DUAL_LEFT_WATCHDOG] = "watchdog",
};

static const char *const calls[] = {
	[SYS_read] = "read",
	[SYS_write] = "write",
	[SYS_open] = "open",
	[SYS_close] = "close",
	[SYS_stat] = "stat",
	[SYS_fstat] = "fstat",
	[SYS_lstat] = "lstat",
	[SYS_poll] = "poll",
	[SYS_lseek] = "lseek",
	[SYS_mmap] = "mmap",
	[SYS_mprotect] = "mprotect",
	[SYS_munmap] = "munmap",
	[SYS_brk] = "brk",
	[SYS_rt_sigaction] = "rt_sigaction",
	[SYS_rt_sigprocmask] = "rt_sigprocmask",
	[SYS_rt_sigreturn] = "rt_sigreturn",
	[SYS_ioctl] = "ioctl",
	[SYS_pread64] = "pread64",
	[SYS_pwrite64] = "pwrite64",
	[SYS_readv] = "readv",
	[SYS_writev] = "writev",
	[SYS_access] = "access",
	[SYS_pipe] = "pipe",
	[SYS_select] = "select",
	[SYS_sched_yield] = "sched_yield",
	[SYS_mremap] = "mremap",
	[SYS_msync] = "msync",
	[SYS_mincore] = "mincore",
	[SYS_madvise] = "madvise",
	[SYS_dup] = "dup",
	[SYS_dup2] = "dup2",
	[SYS_pause] = "pause",
	[SYS_nanosleep] = "nanosleep",
	[SYS_getitimer] = "getitimer",
	[SYS_alarm] = "alarm",
	[SYS_setitimer] = "setitimer",
	[SYS_getpid] = "getpid",
	[SYS_sendfile] = "sendfile",
	[SYS_socket] = "socket",
	[SYS_connect] = "connect",
	[SYS_accept] = "accept",
	[SYS_sendto] = "sendto",
	[SYS_recvfrom] = "recvfrom",
	[SYS_sendmsg] = "sendmsg",
	[SYS_recvmsg] = "recvmsg",
	[SYS_shutdown] = "shutdown",
	[SYS_bind] = "bind",
	[SYS_listen] = "listen",
	[SYS_socketpair] = "socketpair",
	[SYS_setsockopt] = "setsockopt",
	[SYS_getsockopt] = "getsockopt",
	[SYS_clone] = "clone",
	[SYS_fork] = "fork",
	[SYS_vfork] = "vfork",
	[SYS_execve] = "execve",
	[SYS_exit] = "exit",
	[SYS_wait4] = "wait4",
	[SYS_kill] = "kill",
	[SYS_uname] = "uname",
	[SYS_fcntl] = "fcntl",
	[SYS_flock] = "flock",
	[SYS_fsync] = "fsync",
	[SYS_fdatasync] = "fdatasync",
	[SYS_ftruncate] = "ftruncate",
	[SYS_getdents64] = "getdents64",
	[SYS_getcwd] = "getcwd",
	[SYS_chdir] = "chdir",
	[SYS_rename] = "rename",
	[SYS_mkdir] = "mkdir",
	[SYS_unlink] = "unlink",
	[SYS_readlink] = "readlink",
	[SYS_umask] = "umask",
	[SYS_gettimeofday] = "gettimeofday",
	[SYS_getrlimit] = "getrlimit",
	[SYS_getrusage] = "getrusage",
	[SYS_sysinfo] = "sysinfo",
	[SYS_times] = "times",
	[SYS_getuid] = "getuid",
	[SYS_getppid] = "getppid",
	[SYS_sigaltstack] = "sigaltstack",
	[SYS_sched_setparam] = "sched_setparam",
	[SYS_sched_getparam] = "sched_getparam",
	[SYS_sched_setscheduler] = "sched_setscheduler",
	[SYS_sched_getscheduler] = "sched_getscheduler",
	[SYS_mlock] = "mlock",
	[SYS_munlock] = "munlock",
	[SYS_mlockall] = "mlockall",
	[SYS_munlockall] = "munlockall",
	[SYS_prctl] = "prctl",
	[SYS_arch_prctl] = "arch_prctl",
	[SYS_setrlimit] = "setrlimit",
	[SYS_sync] = "sync",
	[SYS_gettid] = "gettid",
	[SYS_time] = "time",
	[SYS_futex] = "futex",
	[SYS_sched_setaffinity] = "sched_setaffinity",
	[SYS_sched_getaffinity] = "sched_getaffinity",
	[SYS_epoll_create] = "epoll_create",
	[SYS_set_tid_address] = "set_tid_address",
	[SYS_timer_create] = "timer_create",
	[SYS_timer_settime] = "timer_settime",
	[SYS_timer_gettime] = "timer_gettime",
	[SYS_timer_getoverrun] = "timer_getoverrun",
	[SYS_timer_delete] = "timer_delete",
	[SYS_clock_settime] = "clock_settime",
	[SYS_clock_gettime] = "clock_gettime",
	[SYS_clock_getres] = "clock_getres",
	[SYS_clock_nanosleep] = "clock_nanosleep",
	[SYS_exit_group] = "exit_group",
	[SYS_epoll_wait] = "epoll_wait",
	[SYS_epoll_ctl] = "epoll_ctl",
	[SYS_tgkill] = "tgkill",
	[SYS_semtimedop] = "semtimedop",
	[SYS_mq_open] = "mq_open",
	[SYS_mq_timedsend] = "mq_timedsend",
	[SYS_mq_timedreceive] = "mq_timedreceive",
	[SYS_waitid] = "waitid",
	[SYS_openat] = "openat",
	[SYS_newfstatat] = "newfstatat",
	[SYS_unlinkat] = "unlinkat",
	[SYS_pselect6] = "pselect6",
	[SYS_ppoll] = "ppoll",
	[SYS_set_robust_list] = "set_robust_list",
	[SYS_epoll_pwait] = "epoll_pwait",
	[SYS_timerfd_create] = "timerfd_create",
	[SYS_eventfd] = "eventfd",
	[SYS_timerfd_settime] = "timerfd_settime",
	[SYS_timerfd_gettime] = "timerfd_gettime",
	[SYS_accept4] = "accept4",
	[SYS_signalfd4] = "signalfd4",
	[SYS_eventfd2] = "eventfd2",
	[SYS_epoll_create1] = "epoll_create1",
	[SYS_dup3] = "dup3",
	[SYS_pipe2] = "pipe2",
	[SYS_prlimit64] = "prlimit64",
	[SYS_getcpu] = "getcpu",
	[SYS_sched_setattr] = "sched_setattr",
	[SYS_sched_getattr] = "sched_getattr",
	[SYS_getrandom] = "getrandom",
	[SYS_membarrier] = "membarrier",
	[SYS_statx] = "statx",
	[SYS_rseq] = "rseq",
	[SYS_clone3] = "clone3",
};

#define NAME(names, number) ((number) < sizeof(names) / sizeof((names)[0]) ? (names)[number] : "?")

const char *name_of_task_state(uint32_t state)
{
	return NAME(task_states, state);
}

const char *name_of_thread_state(uint32_t state)
{
	return NAME(thread_states, state);
}

const char *name_of_mode(uint32_t mode)
{
	return NAME(modes, mode);
}

const char *name_of_dual_mode(uint32_t mode)
{
	return NAME(dual_modes, mode);
}

const char *name_of_left(uint32_t reason)
{
	return NAME(left, reason);
}

const char *name_of_call(uint32_t number)
{
	static char digits[16];

	if (number < sizeof(calls) / sizeof(calls[0]) && calls[number])
		return calls[number];
	snprintf(digits, sizeof(digits), "%u", number);
	return digits;
}
