/* Thread signals and interrupt handlers. */
#ifndef RTL_SIGNAL_H
#define RTL_SIGNAL_H

#include <rtl_conf.h>
#define __NEED_size_t
#define __NEED_pid_t
#define __NEED_pthread_t
#define __NEED_sigset_t
#define __NEED_time_t
#define __NEED_struct_timespec
#include <bits/alltypes.h>

#ifdef __cplusplus
extern "C" {
#endif

/* RTLinux's own signals, which act on a thread from outside. */
#define RTL_SIGNAL_NULL 0
#define RTL_SIGNAL_WAKEUP 1
#define RTL_SIGNAL_CANCEL 2
#define RTL_SIGNAL_SUSPEND 3
#define RTL_SIGNAL_TIMER 5
#define RTL_SIGNAL_READY 6

/* Signals that a program can have handlers for. */
#define RTL_SIGUSR1 7
#define RTL_SIGUSR2 8
#define RTL_SIGRTMIN 9
#define RTL_SIGRTMAX 31
#define RTL_MAX_SIGNAL 31

/* Linux's numbers. Those from 7 to 31 may have a handler like any other signal. */
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGIOT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGSTKFLT 16
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGTSTP 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGURG 23
#define SIGXCPU 24
#define SIGXFSZ 25
#define SIGVTALRM 26
#define SIGPROF 27
#define SIGWINCH 28
#define SIGIO 29
#define SIGPOLL SIGIO
#define SIGPWR 30
#define SIGSYS 31
#define SIGRTMIN RTL_SIGRTMIN
#define SIGRTMAX RTL_SIGRTMAX

/* Machine interrupts, for sigaction. */
#define RTL_SIGIRQMIN 256
#define RTL_SIGIRQMAX 511

/* Linux interrupts, for pthread_kill(pthread_linux(), ..). */
#define RTL_LINUX_MIN_SIGNAL 256
#define RTL_LINUX_MAX_SIGNAL 511
#define RTL_LINUX_MIN_LOCAL_SIGNAL 512
#define RTL_LINUX_MAX_LOCAL_SIGNAL 767

#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define SIG_ERR ((void (*)(int))-1)
#define RTL_SIG_DFL SIG_DFL
#define RTL_SIG_IGN SIG_IGN

#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

/* The number given to sigaction is an interrupt's. */
#define SA_IRQ 0x10000
/* Route the interrupt to the processors in sa_focus: a task has only one. */
#define SA_FOCUS 0x20000
#define SA_RESTART 0x10000000
#define SA_NODEFER 0x40000000
#define SA_RESETHAND 0x80000000
#define SA_ONESHOT SA_RESETHAND

struct sigaction {
	void (*sa_handler)(int);
	sigset_t sa_mask;
	int sa_flags;
	unsigned long sa_focus;
};
#define rtl_sigaction sigaction

union sigval {
	int sival_int;
	void *sival_ptr;
};

#define SIGEV_SIGNAL 0
#define SIGEV_NONE 1

struct sigevent {
	int sigev_notify;
	int sigev_signo;
	union sigval sigev_value;
};

typedef int sig_atomic_t;

int sigaction(int signal, const struct sigaction *action, struct sigaction *old);
int pthread_kill(pthread_t thread, int signal);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int sigsuspend(const sigset_t *mask);
int sigpending(sigset_t *set);

static __inline__ int rtl_sigemptyset(rtl_sigset_t *set)
{
	*set = 0;
	return 0;
}

static __inline__ int rtl_sigfillset(rtl_sigset_t *set)
{
	*set = ~0UL;
	return 0;
}

static __inline__ int rtl_sigaddset(rtl_sigset_t *set, int signal)
{
	*set |= 1UL << (signal & 63);
	return 0;
}

static __inline__ int rtl_sigdelset(rtl_sigset_t *set, int signal)
{
	*set &= ~(1UL << (signal & 63));
	return 0;
}

static __inline__ int rtl_sigismember(const rtl_sigset_t *set, int signal)
{
	return *set >> (signal & 63) & 1;
}

#ifdef __cplusplus
}
#endif

#endif
