// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "attempt.h"
#include "test.h"

/* An attempt that does not end is ended after that time. */
#define LIMIT (300 * MILLISECOND)
/* Equal attempts before two outcomes count as different. */
#define TRIES 5

static struct outcome *outcome;
/* Whether the marked process came to primary mode. */
static bool *was_primary;

/* Nothing but system calls: what the C library needs may be gone. */
static void __attribute__((noreturn)) leave(void)
{
	for (;;)
		CALL2(SYS_exit_group, 0, 0);
}

static void store(int sig, siginfo_t *info, void *context)
{
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	outcome->sig = sig;
	outcome->code = info->si_code;
	outcome->address = (uintptr_t)info->si_addr;
	outcome->trap = registers[REG_TRAPNO];
	outcome->error = registers[REG_ERR];
	outcome->cr2 = registers[REG_CR2];
	outcome->rip = registers[REG_RIP];
	outcome->is_over = 1;
	leave();
}

static void catch_all(void)
{
	static const int sigs[] = { SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGTRAP, SIGSYS };
	static char stack[65536] __attribute__((aligned(4096)));
	stack_t alternative = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_sigaction = store, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	unsigned int i;

	check(!sigaltstack(&alternative, NULL), "sigaltstack");
	for (i = 0; i < COUNT(sigs); i++)
		check(!sigaction(sigs[i], &action, NULL), "sigaction");
}

static void run(const struct attempt *attempt, bool is_marked)
{
	catch_all();
	if (attempt->prepare)
		attempt->prepare();
	be_real_time();
	munlockall();
	/* A mark is for the rights that the process has then. */
	if (attempt->confine)
		attempt->confine();
	if (is_marked)
		mark(0);
	close(device);
	to_primary();
	*was_primary = is_primary();
	attempt->run(attempt, outcome);
	outcome->is_over = 1;
	leave();
}

static struct outcome try(const struct attempt *attempt, bool is_marked)
{
	int64_t end = now(CLOCK_MONOTONIC) + LIMIT;
	pid_t child;

	memset(outcome, 0, sizeof(*outcome));
	*was_primary = false;
	child = fork();
	check(child >= 0, "fork: %s", strerror(errno));
	if (!child)
		run(attempt, is_marked);
	while (waitpid(child, &outcome->status, WNOHANG) != child) {
		if (now(CLOCK_MONOTONIC) > end) {
			kill(child, SIGKILL);
			waitpid(child, &outcome->status, 0);
			break;
		}
		usleep(100);
	}
	check(*was_primary == (is_marked && !is_native), "it was %sin primary mode", *was_primary ? "" : "not ");
	return *outcome;
}

/* The process that attempts runs in Linux before what it tries, on one processor. */
static void take_precedence(void)
{
	struct sched_param parameters = { .sched_priority = PRIORITY + 10 };
	cpu_set_t set;

	outcome = shared(sizeof(*outcome));
	was_primary = shared(sizeof(*was_primary));
	check(!sched_setscheduler(0, SCHED_FIFO, &parameters), "sched_setscheduler: %s", strerror(errno));
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	check(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity: %s", strerror(errno));
}

void attempt(const struct attempt *attempt, const char *name)
{
	struct outcome ordinary, marked;
	unsigned int i;

	if (!outcome)
		take_precedence();
	for (i = 0; i < TRIES; i++) {
		ordinary = try(attempt, false);
		marked = try(attempt, true);
		if (!memcmp(&ordinary, &marked, sizeof(ordinary)))
			return;
	}
	tell("%s, in Linux: status %#x, signal %d code %d address %#lx, trap %ld error %#lx cr2 %#lx rip %#lx, %#lx %#lx %#lx %#lx",
	     name, ordinary.status, ordinary.sig, ordinary.code, (long)ordinary.address, (long)ordinary.trap,
	     (long)ordinary.error, (long)ordinary.cr2, (long)ordinary.rip, (long)ordinary.results[0],
	     (long)ordinary.results[1], (long)ordinary.results[2], (long)ordinary.results[3]);
	fail(__FILE__, __LINE__,
	     "%s: status %#x, signal %d code %d address %#lx, trap %ld error %#lx cr2 %#lx rip %#lx, %#lx %#lx %#lx %#lx", name,
	     marked.status, marked.sig, marked.code, (long)marked.address, (long)marked.trap, (long)marked.error,
	     (long)marked.cr2, (long)marked.rip, (long)marked.results[0], (long)marked.results[1], (long)marked.results[2],
	     (long)marked.results[3]);
}
