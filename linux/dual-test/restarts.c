// SPDX-License-Identifier: GPL-2.0-only
/* System calls of 32-bit programs that a signal interrupts, and that Linux goes on with. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "queues.h"
#include "test.h"

/* `nanosleep` of 32-bit programs. */
#define NANOSLEEP_32 162
#define LENGTH (500 * MILLISECOND)

/* Processes whose numbers are the same modulo this one are confused for a moment. */
#define NUMBERS 4096

enum kind { UNMARKED, MARKED, REAL_TIME };

struct sleep_32 {
	enum kind kind;
	volatile pid_t process;
	volatile int64_t begin;
};

static void sleeps_32(void *context)
{
	struct sleep_32 *sleep = context;
	struct { int32_t seconds, ns; } *low;
	long result;

	low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	check(low != MAP_FAILED, "mmap");
	low->ns = LENGTH;
	if (sleep->kind != UNMARKED)
		mark(0);
	if (sleep->kind == REAL_TIME)
		be_real_time();
	sleep->begin = now(CLOCK_MONOTONIC);
	sleep->process = getpid();
	asm volatile("int $0x80" : "=a" (result) : "0" (NANOSLEEP_32), "b" (low), "c" (0)
		     : "memory", "r8", "r9", "r10", "r11");
	check(!(int)result, "it returned %d", (int)result);
	check(now(CLOCK_MONOTONIC) - sleep->begin >= LENGTH, "it slept %lld ns",
	      (long long)(now(CLOCK_MONOTONIC) - sleep->begin));
}

/* Stops a process that sleeps so, and has it go on. */
static pid_t stop_and_go(enum kind kind)
{
	struct sleep_32 *sleep = shared(sizeof(*sleep));
	int status;
	pid_t child;

	sleep->kind = kind;
	child = spawn(sleeps_32, sleep);
	await_sleep(&sleep->process);
	check(!kill(child, SIGSTOP) && waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status), "SIGSTOP");
	check(now(CLOCK_MONOTONIC) - sleep->begin < LENGTH, "it was stopped too late");
	check(!kill(child, SIGCONT) && !status_of(child), "kind %d", kind);
	return child;
}

static void is_marked(void *nothing)
{
	(void)nothing;
	mark(0);
	pause();
}

/* Linux goes on with a call by one of another number, which 32-bit programs number otherwise. */
void restarts_of_32_bits(void)
{
	pid_t marked;
	FILE *last;

	stop_and_go(UNMARKED);
	stop_and_go(MARKED);
	stop_and_go(REAL_TIME);
	marked = spawn(is_marked, NULL);
	last = fopen("/proc/sys/kernel/ns_last_pid", "w");
	check(last && fprintf(last, "%d", marked + NUMBERS - 1) > 0 && !fclose(last), "ns_last_pid");
	check(stop_and_go(UNMARKED) % NUMBERS == marked % NUMBERS, "another number");
	check(!kill(marked, SIGKILL) && status_of(marked) == SIGKILL, "SIGKILL");
}
