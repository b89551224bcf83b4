// SPDX-License-Identifier: GPL-2.0-only
/* Signals of threads in primary mode. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static volatile sig_atomic_t signals;

static void counts(int sig)
{
	(void)sig;
	signals++;
}

static void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	check(!sigaction(sig, &action, NULL), "sigaction");
}

/* SIGALRM after that time, by a timer of either kind. */
static void alarm_after(unsigned int kind, int64_t ns)
{
	struct itimerval interval = { .it_value = { ns / SECOND, ns % SECOND / 1000 } };
	struct itimerspec spec = { .it_value = timespec_of(ns) };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	static timer_t timer;
	static bool is_made;

	if (kind % 2) {
		check(!setitimer(ITIMER_REAL, &interval, NULL), "setitimer");
		return;
	}
	check(is_made || !timer_create(CLOCK_MONOTONIC, &event, &timer), "timer_create");
	is_made = true;
	check(!timer_settime(timer, 0, &spec, NULL), "timer_settime");
}

void interrupted_absolute(void)
{
	int64_t begin, passed;
	unsigned int i;
	long result;

	enter();
	for (i = 0; i < 40; i++) {
		handle(SIGALRM, counts, i % 4 < 2 ? 0 : SA_RESTART);
		signals = 0;
		to_primary();
		begin = now(CLOCK_MONOTONIC);
		alarm_after(i, 2 * MILLISECOND);
		result = sleep_until(i % 8 < 4 ? CLOCK_MONOTONIC : CLOCK_REALTIME,
				     now(i % 8 < 4 ? CLOCK_MONOTONIC : CLOCK_REALTIME) + SECOND);
		passed = now(CLOCK_MONOTONIC) - begin;
		check(result == -EINTR, "%ld after %lld ns", result, (long long)passed);
		check(signals == 1, "%d signals", (int)signals);
		check(passed >= MILLISECOND && passed < SECOND, "it took %lld ns", (long long)passed);
	}
	check_entries(40);
}

void interrupted_relative(void)
{
	int64_t begin, passed, left;
	struct timespec rest;
	unsigned int i;
	long result;

	enter();
	for (i = 0; i < 40; i++) {
		handle(SIGALRM, counts, i % 4 < 2 ? 0 : SA_RESTART);
		signals = 0;
		rest = timespec_of(0);
		to_primary();
		alarm_after(i, 2 * MILLISECOND);
		begin = now(CLOCK_MONOTONIC);
		result = sleep_for(CLOCK_MONOTONIC, SECOND, &rest);
		passed = now(CLOCK_MONOTONIC) - begin;
		left = ns_of(rest);
		check(result == -EINTR, "%ld after %lld ns", result, (long long)passed);
		check(signals == 1, "%d signals", (int)signals);
		check(left > 0 && left < SECOND, "%lld ns are left", (long long)left);
		check(passed + left >= SECOND, "%lld ns passed, %lld are left", (long long)passed, (long long)left);
		check(passed + left < SECOND + 100 * MILLISECOND, "%lld ns passed, %lld are left", (long long)passed,
		      (long long)left);
	}
	check_entries(40);
}

/* A computation whose result depends on all of its steps, in general and vector registers. */
static uint64_t compute(volatile sig_atomic_t *end, uint64_t *steps)
{
	uint64_t value = 1, i;
	double sum = 0;

	for (i = 0; !*end && i < 1ull << 36; i++) {
		value = value * 6364136223846793005ull + 1442695040888963407ull;
		sum += (double)(value >> 60);
	}
	*steps = i;
	return value ^ (uint64_t)sum;
}

static uint64_t compute_again(uint64_t steps)
{
	uint64_t value = 1, i;
	double sum = 0;

	for (i = 0; i < steps; i++) {
		value = value * 6364136223846793005ull + 1442695040888963407ull;
		sum += (double)(value >> 60);
	}
	return value ^ (uint64_t)sum;
}

/* Uses vector registers, and calls that go to primary mode again. */
static void disturbs(int sig)
{
	volatile double x = 3;
	int i;

	(void)sig;
	for (i = 0; i < 100; i++)
		x = x * 1.5 + i;
	to_primary();
	asm volatile("pcmpeqd %%xmm0, %%xmm0\n pcmpeqd %%xmm7, %%xmm7\n fninit\n" : : : "xmm0", "xmm7");
	signals++;
}

void interrupted_computation(void)
{
	uint64_t steps, result;
	unsigned int i;

	enter();
	handle(SIGALRM, disturbs, 0);
	for (i = 0; i < 40; i++) {
		signals = 0;
		alarm_after(i, 2 * MILLISECOND);
		to_primary();
		result = compute(&signals, &steps);
		check(signals == 1, "no signal");
		check(result == compute_again(steps), "another result after %llu steps", (unsigned long long)steps);
	}
	check_entries(40);
}

/* Sleeps 100 ms, or computes. */
static void sleeps(void *context)
{
	struct sleeper *self = context;

	enter();
	to_primary();
	self->begins = now(CLOCK_MONOTONIC);
	if (self->kind == 0)
		self->result = sleep_until(CLOCK_MONOTONIC, self->begins + 100 * MILLISECOND);
	else if (self->kind == 1)
		self->result = sleep_for(CLOCK_MONOTONIC, 100 * MILLISECOND, NULL);
	else
		while (now(CLOCK_MONOTONIC) < self->begins + 100 * MILLISECOND)
			self->counter++;
	self->ends = now(CLOCK_MONOTONIC);
	check_entries(1);
}

static bool has_ended(pid_t child)
{
	siginfo_t info = { .si_pid = 0 };

	check(!waitid(P_PID, child, &info, WEXITED | WNOHANG | WNOWAIT), "waitid: %s", strerror(errno));
	return info.si_pid;
}

pid_t start(struct sleeper *sleeper, unsigned int kind)
{
	struct sched_param parameters = { .sched_priority = PRIORITY + 10 };
	pid_t child;

	/* In Linux, before what the process computes. */
	check(!sched_setscheduler(0, SCHED_FIFO, &parameters), "sched_setscheduler: %s", strerror(errno));
	memset(sleeper, 0, sizeof(*sleeper));
	sleeper->kind = kind;
	child = spawn(sleeps, sleeper);
	while (!sleeper->begins && !has_ended(child))
		usleep(1000);
	usleep(5000);
	return child;
}

/* Stops a process in all states and continues it, before and after the end of its sleep. */
void stopped(void)
{
	struct sleeper *sleeper = shared(sizeof(*sleeper));
	int64_t pause, least;
	unsigned int i;
	pid_t child;
	int status;

	for (i = 0; i < 12; i++) {
		pause = (i % 2 ? 200 : 20) * MILLISECOND;
		child = start(sleeper, i / 2 % 3);
		check(!kill(child, SIGSTOP), "kill");
		check(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status), "it does not stop: %#x", status);
		least = now(CLOCK_MONOTONIC) + pause;
		sleep_until(CLOCK_MONOTONIC, least);
		check(!sleeper->ends, "it goes on while it is stopped");
		check(!kill(child, SIGCONT), "kill");
		status = status_of(child);
		check(!status, "its status is %#x", status);
		check(!sleeper->result, "its sleep's result is %ld", sleeper->result);
		check(sleeper->ends >= least, "it went on while it was stopped");
		check(sleeper->ends >= sleeper->begins + 100 * MILLISECOND, "its sleep was too short");
		check(sleeper->ends < sleeper->begins + 100 * MILLISECOND + pause + SECOND, "its sleep was too long");
	}
}

void killed(void)
{
	struct sleeper *sleeper = shared(sizeof(*sleeper));
	unsigned int i;
	int64_t begin;
	pid_t child;
	int status;

	for (i = 0; i < 30; i++) {
		child = start(sleeper, i % 3);
		begin = now(CLOCK_MONOTONIC);
		kill(child, i % 2 ? SIGKILL : SIGTERM);
		status = status_of(child);
		check(WIFSIGNALED(status) && WTERMSIG(status) == (i % 2 ? SIGKILL : SIGTERM), "its status is %#x", status);
		check(now(CLOCK_MONOTONIC) - begin < SECOND, "its end took too long");
		check(!sleeper->ends, "it had ended");
	}
}

/* Uses up its budget, and sleeps before it gets the next one. */
static void exhausts(void *nothing)
{
	int64_t end;

	(void)nothing;
	enter();
	for (;;) {
		to_primary();
		end = now(CLOCK_MONOTONIC) + MILLISECOND;
		while (now(CLOCK_MONOTONIC) < end)
			;
		to_linux();
		sleep_for(CLOCK_MONOTONIC, 10 * SECOND, NULL);
	}
}

/* A process can be killed also if it has no budget left to be given back. */
void killed_without_budget(void)
{
	unsigned int i;
	int64_t begin;
	pid_t child;
	int status;

	for (i = 0; i < 60; i++) {
		child = spawn(exhausts, NULL);
		usleep(300 * i);
		begin = now(CLOCK_MONOTONIC);
		kill(child, SIGKILL);
		status = status_of(child);
		check(WIFSIGNALED(status), "its status is %#x", status);
		check(now(CLOCK_MONOTONIC) - begin < SECOND, "its end took too long");
	}
}

/* The registers of a stopped process are those of its own code. */
static void check_traced(pid_t child)
{
	struct user_regs_struct registers;
	long word;

	check(!ptrace(PTRACE_GETREGS, child, NULL, &registers), "PTRACE_GETREGS: %s", strerror(errno));
	check(registers.cs == 0x33, "it is not in its own code");
	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, child, registers.rip - 2, NULL);
	check(!errno, "it is at %#llx", registers.rip);
	/* Outside of a system call it is anywhere; in one it is behind SYSCALL. */
	if ((long)registers.orig_rax >= 0)
		check((word & 0xffff) == 0x050f, "it is in call %lld at %#llx", (long long)registers.orig_rax, registers.rip);
}

/* A process that is traced before it was in primary mode would never get there. */
static void wait_until_entered(pid_t child)
{
	struct pillion_dual_thread thread = { .entries = 0 };
	unsigned int i;

	for (i = 0; i < 1000 && !is_native && !thread.entries; i++) {
		look(child, &thread);
		usleep(100);
	}
}

/* A debugger attaches itself to a process, looks at it, lets it go on, and leaves it. */
void traced(void)
{
	struct sleeper *sleeper = shared(sizeof(*sleeper));
	unsigned int i, j;
	pid_t child;
	int status;

	for (i = 0; i < 9; i++) {
		child = start(sleeper, i % 3);
		wait_until_entered(child);
		check(!ptrace(PTRACE_SEIZE, child, NULL, NULL), "PTRACE_SEIZE: %s", strerror(errno));
		for (j = 0; j < 3; j++) {
			check(!ptrace(PTRACE_INTERRUPT, child, NULL, NULL), "PTRACE_INTERRUPT: %s", strerror(errno));
			check(waitpid(child, &status, 0) == child && WIFSTOPPED(status), "it does not stop: %#x", status);
			check_traced(child);
			check(!sleeper->ends, "it has ended");
			check(!ptrace(j < 2 ? PTRACE_CONT : PTRACE_DETACH, child, NULL, NULL), "it cannot go on");
			usleep(2000);
		}
		status = status_of(child);
		check(!status, "its status is %#x", status);
		check(!sleeper->result, "its sleep's result is %ld", sleeper->result);
		check(sleeper->ends >= sleeper->begins + 100 * MILLISECOND, "its sleep was too short");
	}
}
