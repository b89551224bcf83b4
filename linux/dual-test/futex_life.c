// SPDX-License-Identifier: GPL-2.0-only
/* Private futexes: signals, ends of processes, calls that only Linux has, and lost wake-ups. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "futex.h"
#include "test.h"

static volatile sig_atomic_t handled;

static void handles(int sig)
{
	(void)sig;
	handled++;
}

/* A wait that a signal interrupts, and what it then returns. */
struct interrupted {
	const char *name;
	int operation;
	bool has_end;
	int sig;
	int flags;
	long result;
};

static struct {
	const struct interrupted *kind;
	uint32_t word;
	volatile pid_t number;
	long result;
} waiter;

static void *is_interrupted(void *nothing)
{
	bool is_point = waiter.kind->operation == FUTEX_WAIT_BITSET;
	struct timespec time = timespec_of(60 * SECOND + (is_point ? now(CLOCK_MONOTONIC) : 0));

	waiter.number = gettid();
	waiter.result = futex(&waiter.word, waiter.kind->operation, 0, waiter.kind->has_end ? &time : NULL, ~0u);
	return nothing;
}

static void interrupt(const struct interrupted *kind)
{
	struct sigaction action = { .sa_handler = handles, .sa_flags = kind->flags };
	pthread_t thread;

	handled = 0;
	waiter.kind = kind;
	waiter.word = 0;
	waiter.number = 0;
	sigaction(SIGUSR1, &action, NULL);
	thread = begin_thread(PRIORITY, is_interrupted, NULL);
	while (!waiter.number)
		usleep(1000);
	usleep(20000);
	if (kind->sig == SIGSTOP) {
		/* Another process lets this one go on. */
		pid_t own = getpid(), other = fork();

		if (!other) {
			usleep(20000);
			kill(own, SIGCONT);
			_exit(0);
		}
		kill(own, SIGSTOP);
		check(!status_of(other), "the other process");
	} else {
		pthread_kill(thread, kind->sig);
	}
	usleep(20000);
	__atomic_store_n(&waiter.word, 1, __ATOMIC_RELEASE);
	futex(&waiter.word, FUTEX_WAKE, 1, NULL, 0);
	pthread_join(thread, NULL);
	check(waiter.result == kind->result, "%s: %ld", kind->name, waiter.result);
	check(handled == (kind->sig == SIGUSR1), "%s: %d signals were handled", kind->name, handled);
}

/* A handler ends a wait or not as in Linux; what has none does not. */
void futex_interrupted(void)
{
	static const struct interrupted kinds[] = {
		{ "a handler", FUTEX_WAIT, false, SIGUSR1, 0, -EINTR },
		{ "a handler that restarts", FUTEX_WAIT, false, SIGUSR1, SA_RESTART, 0 },
		{ "a handler, with an end", FUTEX_WAIT_BITSET, true, SIGUSR1, 0, -EINTR },
		{ "a handler that restarts, with an end", FUTEX_WAIT_BITSET, true, SIGUSR1, SA_RESTART, -EINTR },
		{ "a handler, with a length", FUTEX_WAIT, true, SIGUSR1, SA_RESTART, -EINTR },
		{ "a stop", FUTEX_WAIT, false, SIGSTOP, 0, 0 },
		{ "a stop, with an end", FUTEX_WAIT_BITSET, true, SIGSTOP, 0, 0 },
		{ "a signal that is ignored", FUTEX_WAIT, false, SIGCHLD, 0, 0 },
	};
	unsigned int i;

	mark(0);
	for (i = 0; i < COUNT(kinds); i++)
		interrupt(&kinds[i]);
}

/* Two futexes, and threads that wait for the first and then lock the second, as a condition's. */
static uint32_t condition, guard, passed;

static void lock_guard(void)
{
	while (__atomic_exchange_n(&guard, 2, __ATOMIC_ACQUIRE))
		futex(&guard, FUTEX_WAIT, 2, NULL, 0);
}

static void unlock_guard(void)
{
	__atomic_store_n(&guard, 0, __ATOMIC_RELEASE);
	futex(&guard, FUTEX_WAKE, 1, NULL, 0);
}

static void *waits_for_condition(void *nothing)
{
	while (!__atomic_load_n(&condition, __ATOMIC_ACQUIRE))
		futex(&condition, FUTEX_WAIT, 0, NULL, 0);
	lock_guard();
	passed++;
	unlock_guard();
	return nothing;
}

/* How a thread in Linux wakes all who wait for the condition, while it owns the guard. */
static void requeue(void)
{
	long result = call(SYS_futex, (long)&condition, FUTEX_CMP_REQUEUE_PRIVATE, 1, INT_MAX, (long)&guard, 1);

	check(result >= 0, "FUTEX_CMP_REQUEUE: %ld", result);
	result = call(SYS_futex, (long)&condition, FUTEX_CMP_REQUEUE_PRIVATE, 1, INT_MAX, (long)&guard, 7);
	check(result == -EAGAIN, "FUTEX_CMP_REQUEUE of another value: %ld", result);
}

static void requeue_blindly(void)
{
	long result = call(SYS_futex, (long)&condition, FUTEX_REQUEUE_PRIVATE, 1, INT_MAX, (long)&guard, 0);

	check(result >= 0, "FUTEX_REQUEUE: %ld", result);
}

static void wake_by_operation(void)
{
	uint32_t other = 0;
	int add = FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0);
	long result = call(SYS_futex, (long)&other, FUTEX_WAKE_OP_PRIVATE, 1, INT_MAX, (long)&condition, add);

	/* It added one to the condition, which was 1. */
	check(result >= 0 && condition == 2, "FUTEX_WAKE_OP: %ld, %u", result, condition);
	result = call(SYS_futex, (long)&condition, FUTEX_WAKE_OP_PRIVATE, INT_MAX, 0, (long)&other, add);
	check(result >= 0 && other == 1, "FUTEX_WAKE_OP: %ld, %u", result, other);
}

static void turn_over(void (*wake)(void))
{
	static const int priorities[] = { PRIORITY, PRIORITY + 1, 0, PRIORITY - 1, 0 };
	pthread_t threads[COUNT(priorities)];
	unsigned int i;

	condition = passed = 0;
	for (i = 0; i < COUNT(priorities); i++)
		threads[i] = begin_thread(priorities[i], waits_for_condition, NULL);
	usleep(50000);
	lock_guard();
	__atomic_store_n(&condition, 1, __ATOMIC_RELEASE);
	wake();
	unlock_guard();
	for (i = 0; i < COUNT(priorities); i++)
		pthread_join(threads[i], NULL);
	check(passed == COUNT(priorities), "%u threads passed", passed);
}

static uint32_t either[2];

/* Waits for one of several futexes, or for one by the newer call, where Linux has that. */
static void *waits_for_either(void *new_call)
{
	struct futex_waitv both[] = {
		{ .uaddr = (uintptr_t)&either[0], .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG },
		{ .uaddr = (uintptr_t)&either[1], .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG },
	};
	long result = -EAGAIN;

	while (!__atomic_load_n(&either[1], __ATOMIC_ACQUIRE) && (result >= 0 || result == -EAGAIN))
		result = new_call ? call(SYS_futex_wait_2, (long)&either[1], 0, ~0u, FUTEX_32 | FUTEX_PRIVATE_FLAG, 0, 0) :
				    call(SYS_futex_waitv, (long)both, COUNT(both), 0, 0, 0, 0);
	check(result >= 0 || result == -EAGAIN || result == -ENOSYS, "a wait: %ld", result);
	return NULL;
}

static void *waits_for_one(void *nothing)
{
	take_one(&either[1]);
	return nothing;
}

/* A wake-up for those who share a futex with other processes is not for those who do not. */
static void wake_others(void)
{
	pthread_t thread;
	long result;

	either[1] = 0;
	thread = begin_thread(PRIORITY + 1, waits_for_one, NULL);
	usleep(20000);
	result = call(SYS_futex, (long)&either[1], FUTEX_WAKE, 1, 0, 0, 0);
	check(!result, "FUTEX_WAKE without the private flag: %ld", result);
	result = call(SYS_futex_wake_2, (long)&either[1], ~0u, 1, FUTEX_32, 0, 0);
	check(!result || result == -ENOSYS, "futex_wake without the private flag: %ld", result);
	put(&either[1]);
	pthread_join(thread, NULL);
}

static void *wakes_by_new_call(void *nothing)
{
	long result;

	__atomic_store_n(&either[1], 1, __ATOMIC_RELEASE);
	result = call(SYS_futex_wake_2, (long)&either[1], ~0u, 1, FUTEX_32 | FUTEX_PRIVATE_FLAG, 0, 0);
	if (result == -ENOSYS)
		futex(&either[1], FUTEX_WAKE, 1, NULL, 0);
	return nothing;
}

/* Calls that only Linux has reach threads in primary mode as well, and are reached from there. */
void futex_of_linux(void)
{
	pthread_t thread;
	int new_call;

	mark(0);
	turn_over(requeue);
	turn_over(requeue_blindly);
	turn_over(wake_by_operation);
	for (new_call = 0; new_call < 2; new_call++) {
		either[1] = 0;
		thread = begin_thread(0, waits_for_either, new_call ? &either : NULL);
		usleep(20000);
		be_real_time();
		to_primary();
		put(&either[1]);
		check(is_native || is_primary(), "the wake-up led to Linux");
		pthread_join(thread, NULL);
		be_ordinary();
	}
	either[1] = 0;
	be_real_time();
	to_primary();
	thread = begin_thread(0, wakes_by_new_call, NULL);
	take_one(&either[1]);
	pthread_join(thread, NULL);
	be_ordinary();
	wake_others();
}

/* Another process with the same memory, which is not marked. */
static uint32_t there_and_back[2];

static int shares_memory(void *nothing)
{
	(void)nothing;
	take_one(&there_and_back[0]);
	put(&there_and_back[1]);
	return 0;
}

/* One that is marked as well, and has a real-time thread. */
static int enters_and_shares(void *nothing)
{
	enter();
	to_primary();
	return shares_memory(nothing);
}

/* A child with a copy of the memory wakes nobody here. */
static void wakes_in_its_copy(void *nothing)
{
	(void)nothing;
	check(!futex(&there_and_back[1], FUTEX_WAKE, INT_MAX, NULL, 0), "a child woke a thread of its parent");
}

static void *waits_there(void *nothing)
{
	take_one(&there_and_back[1]);
	return nothing;
}

void futex_memory(void)
{
	static char stack[16384] __attribute__((aligned(16)));
	pthread_t thread;
	int status, i;
	pid_t child;

	enter();
	for (i = 0; i < 20; i++) {
		child = clone(shares_memory, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
		check(child > 0, "clone: %s", strerror(errno));
		to_primary();
		put(&there_and_back[0]);
		take_one(&there_and_back[1]);
		check(is_native || is_primary(), "its turn %d led to Linux", i);
		check(waitpid(child, &status, 0) == child && !status, "its status: %#x", status);
	}
	for (i = 0; i < 20; i++) {
		child = clone(enters_and_shares, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
		check(child > 0, "clone: %s", strerror(errno));
		sleep_for(CLOCK_MONOTONIC, 20 * MILLISECOND, NULL);
		if (i % 2)
			to_linux();
		put(&there_and_back[0]);
		if (i & 2)
			to_linux();
		take_one(&there_and_back[1]);
		check(waitpid(child, &status, 0) == child && !status, "its status: %#x", status);
	}
	thread = begin_thread(PRIORITY, waits_there, NULL);
	sleep_for(CLOCK_MONOTONIC, 20 * MILLISECOND, NULL);
	status = status_of(spawn(wakes_in_its_copy, NULL));
	check(!status, "a child's status: %#x", status);
	put(&there_and_back[1]);
	pthread_join(thread, NULL);
}
