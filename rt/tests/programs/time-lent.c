/*
 * A task calls the broker endlessly, bypassing the library's lock, exhausts its budget again and
 * again, and takes its own thread's time back in the middle of calls. A more urgent task that also
 * uses the broker never waits longer than a request takes.
 *
 * task: priority = 60
 * task: period_us = 2000
 * task: budget_us = 100
 * with: time-lent-watch
 * prints: the time was with the broker: yes
 * limit: 120
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pthread.h>
#include <pillion.h>

#include "start.h"

/* Slots of user/runtime/src/info.rs, calls and errors of docs/syscalls.md. */
#define BROKER 9
#define THREADS 64
#define CONTEXTS 128
#define CALL 0
#define BIND_CONTEXT 36
#define BUSY -11

static long system_call(long number, long a, long b)
{
	register long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0, r9 __asm__("r9") = 0;
	register long r12 __asm__("r12") = 0, r13 __asm__("r13") = 0, r14 __asm__("r14") = 0, r15 __asm__("r15") = 0;
	long d = 0;

	__asm__ volatile("syscall"
			 : "+a"(number), "+D"(a), "+S"(b), "+d"(d), "+r"(r10), "+r"(r8), "+r"(r9), "+r"(r12), "+r"(r13), "+r"(r14), "+r"(r15)
			 :: "rcx", "r11", "memory");
	return number;
}

static void *asks(void *unused)
{
	for (;;)
		system_call(CALL, BROKER, 1);
	return unused;
}

/*
 * This thread has a budget of its own: it continues when that of the calling thread is exhausted.
 */
static void *takes(void *unused)
{
	int tries, busy = 0;

	for (tries = 0; tries < 400; tries++) {
		usleep(1137);
		busy += system_call(BIND_CONTEXT, THREADS + 1, 0) == BUSY;
		system_call(BIND_CONTEXT, THREADS + 1, CONTEXTS + 1);
	}
	rtl_printf("the time was with the broker: %s\n", busy ? "yes" : "no");
	pillion_unload();
	return unused;
}

int init_module(void)
{
	pthread_t thread;

	return start(&thread, 10, asks, NULL) || start(&thread, 20, takes, NULL) ? -1 : 0;
}

void cleanup_module(void)
{
}
