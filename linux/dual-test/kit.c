// SPDX-License-Identifier: GPL-2.0-only
/* What the tests of dual mode have in common. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pillion_channel.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "test.h"

bool is_native;
int device = -1;

void fail(const char *file, int line, const char *format, ...)
{
	const char *name = strrchr(file, '/');
	char text[256];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	dprintf(STDOUT_FILENO, "  %s:%d: %s\n", name ? name + 1 : file, line, text);
	_exit(1);
}

void tell(const char *format, ...)
{
	char text[256];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	dprintf(STDOUT_FILENO, "  %s\n", text);
}

int64_t now(clockid_t clock)
{
	struct timespec time;
	long result = CALL2(SYS_clock_gettime, clock, &time);

	check(!result, "clock_gettime(%d): %ld", clock, result);
	return ns_of(time);
}

long sleep_until(clockid_t clock, int64_t ns)
{
	struct timespec time = timespec_of(ns);

	return CALL4(SYS_clock_nanosleep, clock, TIMER_ABSTIME, &time, NULL);
}

long sleep_for(clockid_t clock, int64_t ns, struct timespec *rest)
{
	struct timespec time = timespec_of(ns);

	return CALL4(SYS_clock_nanosleep, clock, 0, &time, rest);
}

void to_primary(void)
{
	long result = sleep_for(CLOCK_MONOTONIC, 20 * MICROSECOND, NULL);

	check(!result, "clock_nanosleep: %ld", result);
}

void mark(unsigned int flags)
{
	struct pillion_dual_mark mark = { .flags = flags, .clear = PILLION_DUAL_WARN | PILLION_DUAL_REPORT };

	if (!is_native)
		check(!ioctl(device, PILLION_IOC_DUAL_MARK, &mark), "mark: %s", strerror(errno));
}

void be_real_time(void)
{
	struct sched_param parameters = { .sched_priority = PRIORITY };

	check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall: %s", strerror(errno));
	check(!sched_setscheduler(0, SCHED_FIFO, &parameters), "sched_setscheduler: %s", strerror(errno));
}

void filter_calls(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { .len = 1, .filter = &allow };

	check(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
	      "seccomp: %s", strerror(errno));
}

void be_ordinary(void)
{
	struct sched_param parameters = { .sched_priority = 0 };

	check(!sched_setscheduler(0, SCHED_OTHER, &parameters), "sched_setscheduler: %s", strerror(errno));
}

void enter(void)
{
	mark(0);
	be_real_time();
}

bool is_primary(void)
{
	return !CALL0(PILLION_DUAL_SERVICE_FIRST);
}

pthread_t begin_thread(int priority, void *(*run)(void *), void *context)
{
	struct sched_param parameters = { .sched_priority = priority };
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, priority ? SCHED_FIFO : SCHED_OTHER);
	pthread_attr_setschedparam(&attributes, &parameters);
	check(!pthread_create(&thread, &attributes, run, context), "pthread_create");
	return thread;
}

bool look(pid_t thread, struct pillion_dual_thread *found)
{
	struct pillion_dual_look look = { .index = 0 };

	for (; !ioctl(device, PILLION_IOC_DUAL_LOOK, &look); look.index++) {
		if (look.thread.thread != (uint32_t)thread)
			continue;
		*found = look.thread;
		return true;
	}
	check(errno == ENOENT, "look: %s", strerror(errno));
	return false;
}

uint64_t left_by(long one, long other)
{
	struct pillion_dual_thread thread = { 0 };
	uint64_t count = 0;
	unsigned int i;

	if (!is_native)
		check(look(gettid(), &thread), "look");
	for (i = 0; i < PILLION_DUAL_CALLS; i++)
		if (thread.calls[i].number == one || thread.calls[i].number == other)
			count += thread.calls[i].count;
	return count;
}

void check_entries(uint64_t least)
{
	struct pillion_dual_thread thread = { .entries = 0 };

	if (is_native)
		return;
	look(gettid(), &thread);
	check(thread.entries >= least, "it was in primary mode %llu times only", (unsigned long long)thread.entries);
}

pid_t spawn(void (*run)(void *), void *context)
{
	pid_t child = fork();

	check(child >= 0, "fork: %s", strerror(errno));
	if (child)
		return child;
	run(context);
	_exit(0);
}

int status_of(pid_t child)
{
	int i, status;

	for (i = 0; i < 100000; i++) {
		if (waitpid(child, &status, WNOHANG) == child)
			return status;
		usleep(1000);
	}
	kill(child, SIGKILL);
	fail(__FILE__, __LINE__, "a process does not end");
}

void *shared(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	check(memory != MAP_FAILED, "mmap: %s", strerror(errno));
	return memory;
}

static volatile uint64_t rax_at_fault;

static void skips(int sig, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)sig;
	(void)info;
	rax_at_fault = registers[REG_RAX];
	/* UD2. */
	registers[REG_RIP] += 2;
}

void catch_faults(void)
{
	struct sigaction action = { .sa_sigaction = skips, .sa_flags = SA_SIGINFO };

	check(!sigaction(SIGILL, &action, NULL), "sigaction: %s", strerror(errno));
}

uint64_t rax_of_fault(uint64_t rax)
{
	asm volatile("ud2" : "+a" (rax) : : "memory");
	check(rax == rax_at_fault, "rax was %#llx for the handler, and then %#llx", (unsigned long long)rax_at_fault,
	      (unsigned long long)rax);
	return rax;
}
