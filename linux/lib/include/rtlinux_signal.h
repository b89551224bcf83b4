/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Real-time signals in a Linux process (PSC), with the declarations of RTLinux's programs. A
 * handler runs at real-time priority in the process's own address space, as soon as its time comes,
 * whatever Linux does. It may use its process's memory and call gethrtime(), rtf_put() and
 * rtf_get(); any system call ends the handler, and so does accessing absent memory, or not
 * returning within 10 ms. All memory of the process is locked when the first handler is set. A
 * process with handlers must not fork, because that takes the memory away from them.
 *
 * It needs a task with skin = "psc" in the system file, and the kernel module `pillion`. Without
 * them rtlinux_sigaction() and rtf_create() fail with ENOSYS.
 */
#ifndef RTLINUX_SIGNAL_H
#define RTLINUX_SIGNAL_H

#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RTLINUX_NR_IRQS 256
/* Interrupt lines begin at this number. */
#define RTLINUX_SIGIRQ0 0
/* Timers. */
#define RTLINUX_SIGTIMER(n) (RTLINUX_NR_IRQS + (n))
#define RTLINUX_SIGTIMER0 RTLINUX_SIGTIMER(0)
#define RTLINUX_SIGTIMER1 RTLINUX_SIGTIMER(1)
#define RTLINUX_SIGTIMER2 RTLINUX_SIGTIMER(2)
#define RTLINUX_SIGTIMER3 RTLINUX_SIGTIMER(3)
#define RTLINUX_SIGTIMER4 RTLINUX_SIGTIMER(4)
#define RTLINUX_SIGTIMER5 RTLINUX_SIGTIMER(5)
#define RTLINUX_SIGTIMER6 RTLINUX_SIGTIMER(6)
#define RTLINUX_SIGTIMER7 RTLINUX_SIGTIMER(7)
#define RTLINUX_SIGTIMER8 RTLINUX_SIGTIMER(8)
#define RTLINUX_SIGTIMER9 RTLINUX_SIGTIMER(9)
#define RTLINUX_SIGTIMER10 RTLINUX_SIGTIMER(10)
#define RTLINUX_SIGTIMER11 RTLINUX_SIGTIMER(11)
#define RTLINUX_SIGTIMER12 RTLINUX_SIGTIMER(12)
#define RTLINUX_SIGTIMER13 RTLINUX_SIGTIMER(13)
#define RTLINUX_SIGTIMER14 RTLINUX_SIGTIMER(14)
#define RTLINUX_SIGTIMER15 RTLINUX_SIGTIMER(15)
/* Nothing sends these; rtlinux_sigaction() refuses them (EINVAL). */
#define RTLINUX_SIGUSR0 (RTLINUX_NR_IRQS + 16)
#define RTLINUX_SIGUSR1 (RTLINUX_NR_IRQS + 17)
#define RTLINUX_SIGUSR2 (RTLINUX_NR_IRQS + 18)
#define RTLINUX_SIGUSR3 (RTLINUX_NR_IRQS + 19)
#define RTLINUX_SIGMAX RTLINUX_SIGUSR3

#define RTLINUX_SA_PERIODIC 0
#define RTLINUX_SA_ONESHOT 1
#define RTLINUX_SA_MULTIPSC 2
/* The handler runs once, as with RTLINUX_SA_ONESHOT. */
#define RTLINUX_SA_RESETHAND 4

/* Both end the handler. */
#define RTLINUX_SIG_DFL ((void (*)(int))0)
#define RTLINUX_SIG_IGN ((void (*)(int))1)

#define RTLINUX_SIG_BLOCK 0
#define RTLINUX_SIG_UNBLOCK 1
#define RTLINUX_SIG_SETMASK 2

typedef long long hrtime_t;

#define RTLINUX_SIGNWORDS ((RTLINUX_SIGMAX + 64) / 64)
typedef struct {
	unsigned long bits[RTLINUX_SIGNWORDS];
} rtlinux_sigset_t;

/* The blocked signals, read-only. */
extern rtlinux_sigset_t rtlinux_blocked;

/*
 * The C library defines `sa_handler` as a macro for a member of a union in its structure. The name
 * must mean the same here, in whichever order a program includes the two headers.
 */
#pragma push_macro("sa_handler")
#undef sa_handler
struct rtlinux_sigaction {
#ifdef __GLIBC__
	union {
		void (*sa_handler)(int);
	} __sigaction_handler;
#else
	void (*sa_handler)(int);
#endif
	int sa_flags;
	hrtime_t sa_period;
	rtlinux_sigset_t sa_mask;
	/* Kept for programs that set them; the priority is in the system file. */
	int sa_priority;
	int sa_signal;
};
#pragma pop_macro("sa_handler")

/* What a handler did. */
struct rtlinux_sigstate {
	unsigned long long runs;
	/* Runs that were skipped because the previous one was not finished. */
	unsigned long long overruns;
	/* Longest delay of the start of a run, in nanoseconds. */
	hrtime_t latency_max;
	/* Whether it will run when its time comes. */
	int is_active;
	/* Why it was ended, one of PILLION_PSC_* or an exception's number; -1 if it was not. */
	int fault;
	void *address;
	void *instruction;
};

/*
 * Sets the handler of a timer, RTLINUX_SIGTIMER(n), which runs after sa_period nanoseconds, once or
 * repeatedly; or of an interrupt line that the system file gives to the task. RTLINUX_SIG_DFL or
 * RTLINUX_SIG_IGN as sa_handler ends it. `old` is ignored.
 */
int rtlinux_sigaction(int sig, const struct rtlinux_sigaction *action, struct rtlinux_sigaction *old);
/* A signal that came while blocked is due once: its handler runs before unblocking returns. */
int rtlinux_sigprocmask(int how, const rtlinux_sigset_t *set, rtlinux_sigset_t *old);
int rtlinux_sigemptyset(rtlinux_sigset_t *set);
int rtlinux_sigfillset(rtlinux_sigset_t *set);
int rtlinux_sigaddset(rtlinux_sigset_t *set, int sig);
int rtlinux_sigdelset(rtlinux_sigset_t *set, int sig);
int rtlinux_sigismember(const rtlinux_sigset_t *set, int sig);

/* Reports the state of a handler; not part of RTLinux. */
int rtlinux_sigstate(int sig, struct rtlinux_sigstate *state);

int rtf_create(unsigned int number, int size);
int rtf_destroy(unsigned int number);
/* In handlers only: return bytes or a negative errno. rtf_put() puts all or nothing (ENOSPC). */
int rtf_put(unsigned int number, const void *bytes, int count);
int rtf_get(unsigned int number, void *bytes, int count);

/* The time that tasks see; -1 if there are no tasks. */
hrtime_t gethrtime(void);

#ifdef __cplusplus
}
#endif

#endif
