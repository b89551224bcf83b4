// SPDX-License-Identifier: GPL-2.0-only
/* The system calls of primary mode's own: objects on which threads wait for each other. */
#define _GNU_SOURCE
#include <errno.h>
#include <pillion_channel.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define FOREVER PILLION_DUAL_SERVICE_FOREVER
#define TRY PILLION_DUAL_SERVICE_TRY

long service(unsigned int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	long command = PILLION_IOC_DUAL_CALL(number), result;

	do {
		result = call(PILLION_DUAL_SERVICE_FIRST + number, device, command, a, b, c, d);
		if (result == -ENOSYS)
			result = call(SYS_ioctl, device, command, a, b, c, d);
	} while (result == -ENOSYS);
	return result;
}

#define SERVICE(name, a, b, c, d) service(PILLION_DUAL_SERVICE_##name, a, b, c, d)

static long create(unsigned int kind, uint64_t value, uint64_t flags)
{
	long handle = SERVICE(CREATE, kind, value, flags, 0);

	check(handle > 0, "an object of kind %u: %ld", kind, handle);
	return handle;
}

static long destroy(long handle)
{
	return SERVICE(DESTROY, handle, 0, 0, 0);
}

static long take(long semaphore, uint64_t clock, int64_t ns)
{
	return SERVICE(SEMAPHORE_WAIT, semaphore, clock, ns, 0);
}

static long post(long semaphore)
{
	return SERVICE(SEMAPHORE_POST, semaphore, 0, 0, 0);
}

static long lock(long mutex)
{
	return SERVICE(MUTEX_LOCK, mutex, FOREVER, 0, 0);
}

static long unlock(long mutex)
{
	return SERVICE(MUTEX_UNLOCK, mutex, 0, 0, 0);
}

static int64_t soon(int64_t ns)
{
	return now(CLOCK_MONOTONIC) + ns;
}

static long first, second;
static volatile int turns;

static void *answers(void *nothing)
{
	int i;

	for (i = 0; i < 1000; i++) {
		check(!take(first, FOREVER, 0), "its turn %d", i);
		turns++;
		check(!post(second), "the other's turn %d", i);
	}
	return nothing;
}

/* A thread of real-time priority takes its turns in primary mode, an ordinary one in Linux. */
static void take_turns(int priority)
{
	pthread_t thread;
	int i;

	turns = 0;
	thread = begin_thread(priority, answers, NULL);
	for (i = 0; i < 1000; i++) {
		check(!post(first), "the other's turn %d", i);
		check(!take(second, CLOCK_MONOTONIC, soon(10 * SECOND)), "this one's turn %d", i);
		check(turns == i + 1, "turn %d of %d", turns, i);
		check(is_primary(), "it is in Linux");
	}
	pthread_join(thread, NULL);
}

void semaphores(void)
{
	struct pillion_dual_thread thread;
	int64_t begin;

	if (is_native)
		return;
	mark(0);
	first = create(PILLION_DUAL_OBJECT_SEMAPHORE, 2, 0);
	check(!is_primary(), "an ordinary thread stays in primary mode");
	be_real_time();
	second = create(PILLION_DUAL_OBJECT_SEMAPHORE, 0, 0);
	check(is_primary(), "a real-time thread does not stay in primary mode");
	check(!take(first, TRY, 0) && !take(first, FOREVER, 0) && take(first, TRY, 0) == -EAGAIN, "a value of 2");
	begin = now(CLOCK_MONOTONIC);
	check(take(first, CLOCK_MONOTONIC, begin + 2 * MILLISECOND) == -ETIMEDOUT, "a wait of 2 ms");
	check(now(CLOCK_MONOTONIC) - begin >= 2 * MILLISECOND, "it was too short");
	/* The skins sleep so. */
	check(look(gettid(), &thread) && thread.latency_max_ns && thread.latency_max_ns < MILLISECOND,
	      "its longest latency is %llu ns", (unsigned long long)thread.latency_max_ns);
	check(take(first, CLOCK_REALTIME, now(CLOCK_REALTIME)) == -ETIMEDOUT, "a wait in vain");
	check(take(first, 77, 0) == -EINVAL, "an unknown clock");
	check(!post(first) && SERVICE(SEMAPHORE_VALUE, first, 0, 0, 0) == 1, "its value");
	check(is_primary(), "it went to Linux");
	check(!take(first, TRY, 0), "its value");
	take_turns(PRIORITY + 1);
	take_turns(PRIORITY - 1);
	take_turns(0);
	check(!destroy(first) && destroy(first) == -EINVAL && post(first) == -EINVAL, "after its end");
}

static long mutex, condition;
static volatile long shared_count;

static void *counts(void *nothing)
{
	int i;

	for (i = 0; i < 500; i++) {
		long seen;

		check(!lock(mutex), "lock");
		seen = shared_count;
		sleep_for(CLOCK_MONOTONIC, i % 7 * MICROSECOND, NULL);
		if (i % 50 == 0)
			to_linux();
		shared_count = seen + 1;
		check(!unlock(mutex), "unlock");
	}
	return nothing;
}

/* What the calls take in primary mode, for whoever reads the console. */
static void tell_costs(void)
{
	/* Less than a budget, which begins anew in the meantime. */
	const int count = 20;
	int64_t begin, middle, end;
	int i;

	sleep_for(CLOCK_MONOTONIC, 2 * MILLISECOND, NULL);
	begin = now(CLOCK_MONOTONIC);
	for (i = 0; i < count; i++)
		SERVICE(NOTHING, 0, 0, 0, 0);
	middle = now(CLOCK_MONOTONIC);
	for (i = 0; i < count; i++) {
		lock(mutex);
		unlock(mutex);
	}
	end = now(CLOCK_MONOTONIC);
	tell("a call takes %lld ns, a lock with its unlock %lld ns", (long long)(middle - begin) / count,
	     (long long)(end - middle) / count);
}

void mutexes(void)
{
	pthread_t threads[5];
	long other;
	int i;

	if (is_native)
		return;
	enter();
	mutex = create(PILLION_DUAL_OBJECT_MUTEX, 0, PILLION_DUAL_OBJECT_CHECKED);
	check(unlock(mutex) == -EPERM, "unlocked by another");
	check(!lock(mutex) && lock(mutex) == -EDEADLK && destroy(mutex) == -EBUSY, "locked by its owner");
	check(SERVICE(MUTEX_LOCK, mutex, TRY, 0, 0) == -EBUSY, "tried by its owner");
	/* It owns it in Linux as well. */
	to_linux();
	to_primary();
	check(!unlock(mutex) && unlock(mutex) == -EPERM && !destroy(mutex), "unlocked");
	other = create(PILLION_DUAL_OBJECT_MUTEX, 0, PILLION_DUAL_OBJECT_RECURSIVE);
	check(!lock(other) && !lock(other) && !unlock(other) && !unlock(other) && unlock(other) == -EPERM, "depth");
	mutex = create(PILLION_DUAL_OBJECT_MUTEX, 0, PILLION_DUAL_OBJECT_INHERIT);
	tell_costs();
	for (i = 0; i < 5; i++)
		threads[i] = begin_thread(i ? PRIORITY - 2 + i : 0, counts, NULL);
	for (i = 0; i < 5; i++)
		pthread_join(threads[i], NULL);
	check(shared_count == 5 * 500, "%ld increments", shared_count);
}

static int64_t begin_ns;

/* Keeps the processor busy, in primary mode. */
static void compute(int64_t ns)
{
	int64_t end = soon(ns);

	while (now(CLOCK_MONOTONIC) < end)
		;
}

static void *is_low(void *nothing)
{
	check(!lock(mutex), "lock");
	sleep_until(CLOCK_MONOTONIC, begin_ns);
	compute(20 * MICROSECOND);
	check(!unlock(mutex), "unlock");
	return nothing;
}

static void *is_between(void *nothing)
{
	sleep_until(CLOCK_MONOTONIC, begin_ns + 5 * MICROSECOND);
	compute(85 * MICROSECOND);
	return nothing;
}

static void *is_high(void *late)
{
	sleep_until(CLOCK_MONOTONIC, begin_ns + 10 * MICROSECOND);
	check(!lock(mutex), "lock");
	*(int64_t *)late = now(CLOCK_MONOTONIC) - begin_ns;
	check(!unlock(mutex), "unlock");
	return NULL;
}

/* How late an urgent thread gets a mutex that a less urgent one has, while one between computes. */
static int64_t lateness(uint64_t flags)
{
	int64_t late = 0;
	pthread_t threads[3];
	int i;

	mutex = create(PILLION_DUAL_OBJECT_MUTEX, 0, flags);
	begin_ns = soon(20 * MILLISECOND);
	threads[0] = begin_thread(10, is_low, NULL);
	threads[1] = begin_thread(20, is_between, NULL);
	threads[2] = begin_thread(30, is_high, &late);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	check(!destroy(mutex), "destroy");
	return late;
}

void mutex_inherits(void)
{
	int64_t inherits = INT64_MAX, lends_nothing = INT64_MAX;
	int i;

	if (is_native)
		return;
	enter();
	for (i = 0; i < 5; i++) {
		int64_t with = lateness(PILLION_DUAL_OBJECT_INHERIT), without = lateness(0);

		inherits = with < inherits ? with : inherits;
		lends_nothing = without < lends_nothing ? without : lends_nothing;
	}
	tell("a mutex after %lld ns with inheritance, %lld ns without", (long long)inherits, (long long)lends_nothing);
	check(inherits < 60 * MICROSECOND, "inheritance does not help");
	check(lends_nothing > 80 * MICROSECOND, "there was nothing to help with");
}

static long wait_for(int64_t end)
{
	return SERVICE(CONDITION_WAIT, condition, mutex, end ? CLOCK_MONOTONIC : FOREVER, end);
}

static volatile int items, taken;

static void *consumes(void *nothing)
{
	int i;

	for (i = 0; i < 200; i++) {
		check(!lock(mutex), "lock");
		while (!items)
			check(!wait_for(0), "wait");
		items--;
		taken++;
		check(!unlock(mutex), "unlock");
	}
	return nothing;
}

void conditions(void)
{
	pthread_t threads[3];
	int64_t begin;
	int i;

	if (is_native)
		return;
	enter();
	condition = create(PILLION_DUAL_OBJECT_CONDITION, 0, 0);
	mutex = create(PILLION_DUAL_OBJECT_MUTEX, 0, PILLION_DUAL_OBJECT_INHERIT);
	check(wait_for(0) == -EPERM, "a wait without the mutex");
	check(!lock(mutex), "lock");
	begin = now(CLOCK_MONOTONIC);
	check(wait_for(begin + MILLISECOND) == -ETIMEDOUT && now(CLOCK_MONOTONIC) - begin >= MILLISECOND, "a wait of 1 ms");
	check(!unlock(mutex), "it has the mutex again");
	for (i = 0; i < 3; i++)
		threads[i] = begin_thread(i ? PRIORITY - 2 + 2 * i : 0, consumes, NULL);
	for (i = 0; i < 200; i++) {
		check(!lock(mutex), "lock");
		items += 3;
		check(!SERVICE(CONDITION_WAKE, condition, i % 2, 0, 0), "wake");
		check(!unlock(mutex), "unlock");
		if (i % 2 == 0)
			SERVICE(CONDITION_WAKE, condition, 1, 0, 0);
		if (i % 20 == 0)
			sleep_for(CLOCK_MONOTONIC, MILLISECOND, NULL);
	}
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	check(!items && taken == 600, "%d are left, %d were taken", items, taken);
}

static long flags;

static void *sets_flags(void *nothing)
{
	sleep_for(CLOCK_MONOTONIC, MILLISECOND, NULL);
	check(!SERVICE(FLAGS_SET, flags, 4, 0, 0) && !SERVICE(FLAGS_SET, flags, 2, 0, 0), "set");
	return nothing;
}

void event_flags(void)
{
	pthread_t thread;

	if (is_native)
		return;
	enter();
	flags = create(PILLION_DUAL_OBJECT_FLAGS, 1, 0);
	thread = begin_thread(0, sets_flags, NULL);
	check(SERVICE(FLAGS_WAIT, flags, 7, FOREVER, 0) == 7, "all");
	check(SERVICE(FLAGS_WAIT, flags, PILLION_DUAL_SERVICE_ANY | 12, FOREVER, 0) == 4, "one");
	check(SERVICE(FLAGS_CLEAR, flags, 5, 0, 0) == 7, "clear");
	check(SERVICE(FLAGS_WAIT, flags, 7, TRY, 0) == -EAGAIN, "not all");
	check(SERVICE(FLAGS_WAIT, flags, 4, CLOCK_MONOTONIC, soon(MILLISECOND)) == -ETIMEDOUT, "a wait in vain");
	pthread_join(thread, NULL);
}

void periods(void)
{
	const int64_t period = MILLISECOND;
	int64_t begin;
	int i;

	if (is_native)
		return;
	enter();
	check(SERVICE(PERIOD_WAIT, 0, 0, 0, 0) == -EPERM, "a wait without a period");
	check(SERVICE(PERIOD_SET, 77, 0, period, 0) == -EINVAL && SERVICE(PERIOD_SET, CLOCK_MONOTONIC, 0, 1, 0) == -EINVAL,
	      "strange periods");
	begin = soon(2 * MILLISECOND);
	check(!SERVICE(PERIOD_SET, CLOCK_MONOTONIC, begin, period, 0), "set");
	for (i = 0; i < 20; i++) {
		check(!SERVICE(PERIOD_WAIT, 0, 0, 0, 0), "overruns in period %d", i);
		check(now(CLOCK_MONOTONIC) >= begin + i * period, "period %d is early", i);
		check(now(CLOCK_MONOTONIC) < begin + (i + 1) * period, "period %d is late", i);
		/* The period is the thread's, in Linux as well. */
		if (i % 5 == 4)
			to_linux();
	}
	sleep_until(CLOCK_MONOTONIC, begin + 23 * period + period / 2);
	check(SERVICE(PERIOD_WAIT, 0, 0, 0, 0) == 3, "three releases were missed");
	check(!SERVICE(PERIOD_WAIT, 0, 0, 0, 0) && now(CLOCK_MONOTONIC) >= begin + 24 * period, "the next one was not");
	check(!SERVICE(PERIOD_SET, CLOCK_MONOTONIC, 0, 0, 0) && SERVICE(PERIOD_WAIT, 0, 0, 0, 0) == -EPERM, "its end");
}

static void *waits_for_ever(void *nothing)
{
	take(first, FOREVER, 0);
	return nothing;
}

/* Makes as many objects as it may, and ends while threads wait for one and own another. */
static void makes_many(void *foreign)
{
	long handle, last = 0;
	int count = 0;

	enter();
	check(post(*(long *)foreign) == -EINVAL, "an object of another process");
	first = create(PILLION_DUAL_OBJECT_SEMAPHORE, 0, 0);
	mutex = create(PILLION_DUAL_OBJECT_MUTEX, 0, PILLION_DUAL_OBJECT_INHERIT);
	begin_thread(PRIORITY, waits_for_ever, NULL);
	begin_thread(0, waits_for_ever, NULL);
	check(!lock(mutex), "lock");
	sleep_for(CLOCK_MONOTONIC, MILLISECOND, NULL);
	while ((handle = SERVICE(CREATE, PILLION_DUAL_OBJECT_FLAGS, 0, 0, 0)) > 0) {
		last = handle;
		count++;
	}
	check(handle == -ENOSPC && count == 126 && last, "%d objects, then error %ld", count, handle);
}

void objects_end(void)
{
	long own;
	int i;

	if (is_native)
		return;
	enter();
	own = create(PILLION_DUAL_OBJECT_SEMAPHORE, 1, 0);
	to_linux();
	for (i = 0; i < 5; i++) {
		int status = status_of(spawn(makes_many, &own));

		check(!status, "process %d: status %#x", i, status);
	}
	check(!take(own, TRY, 0), "its own object");
}

static volatile sig_atomic_t handled;

static void handles(int sig)
{
	(void)sig;
	handled++;
}

static pthread_t waiter;

/* Sends a signal to the waiter, then posts. */
static void *disturbs(void *signal_number)
{
	usleep(20000);
	pthread_kill(waiter, *(int *)signal_number);
	usleep(20000);
	post(first);
	return NULL;
}

static void *stops(void *nothing)
{
	pid_t own = getpid();

	if (!fork()) {
		usleep(20000);
		kill(own, SIGSTOP);
		usleep(20000);
		kill(own, SIGCONT);
		_exit(0);
	}
	usleep(100000);
	post(first);
	return nothing;
}

/* A handler ends the wait for a semaphore, and not that for a mutex; nothing else is seen. */
void services_interrupted(void)
{
	struct sigaction action = { .sa_handler = handles };
	int number = SIGUSR1;
	pthread_t thread;
	int i;

	if (is_native)
		return;
	check(!sigaction(SIGUSR1, &action, NULL), "sigaction");
	mark(0);
	first = create(PILLION_DUAL_OBJECT_SEMAPHORE, 0, 0);
	waiter = pthread_self();
	for (i = 0; i < 4; i++) {
		/* First as an ordinary thread. */
		if (i == 1)
			be_real_time();
		thread = begin_thread(0, disturbs, &number);
		check(take(first, FOREVER, 0) == -EINTR && handled == i + 1, "a wait with a handler");
		check(!take(first, FOREVER, 0), "the same after it");
		pthread_join(thread, NULL);
	}
	thread = begin_thread(0, stops, NULL);
	check(!take(first, FOREVER, 0) && handled == 4, "a wait while the process is stopped");
	pthread_join(thread, NULL);
	check(wait(NULL) > 0, "wait");
}

static void *is_hostile(void *nothing)
{
	const uint64_t words[] = { 0, 1, 2, 3, 0x100, 0x101, 0x102, 0x103, ~0ull, ~1ull, 1ull << 62, 1ull << 63, 1000, 100000,
				   (uint64_t)first, (uint64_t)mutex, (uint64_t)condition, (uint64_t)flags };
	unsigned int seed = (uintptr_t)&seed, i;

	for (i = 0; i < 3000; i++) {
		uint64_t drawn[4];
		unsigned int j, number = rand_r(&seed) % (PILLION_DUAL_SERVICE_END + 2);
		bool waits = number == PILLION_DUAL_SERVICE_SEMAPHORE_WAIT || number == PILLION_DUAL_SERVICE_MUTEX_LOCK ||
			     number == PILLION_DUAL_SERVICE_CONDITION_WAIT || number == PILLION_DUAL_SERVICE_FLAGS_WAIT;

		for (j = 0; j < 4; j++)
			drawn[j] = words[rand_r(&seed) % COUNT(words)];
		/* The objects are to be used. */
		if (number == PILLION_DUAL_SERVICE_DESTROY || number >= PILLION_DUAL_SERVICE_END ||
		    number == PILLION_DUAL_SERVICE_PERIOD_SET)
			continue;
		if (waits) {
			unsigned int clock = number == PILLION_DUAL_SERVICE_CONDITION_WAIT ||
					     number == PILLION_DUAL_SERVICE_FLAGS_WAIT ? 2 : 1;

			drawn[clock] = CLOCK_MONOTONIC;
			drawn[clock + 1] = soon(rand_r(&seed) % 50 * MICROSECOND);
		}
		service(number, drawn[0], drawn[1], drawn[2], drawn[3]);
		if (i % 100 == 0)
			to_linux();
	}
	SERVICE(THREAD_ENDS, 0, 0, 0, 0);
	return nothing;
}

/* Whatever threads say, they end, and objects work afterwards. */
void hostile_services(void)
{
	pthread_t threads[4];
	unsigned int i;

	if (is_native)
		return;
	enter();
	first = create(PILLION_DUAL_OBJECT_SEMAPHORE, 0, 0);
	mutex = create(PILLION_DUAL_OBJECT_MUTEX, 0, PILLION_DUAL_OBJECT_INHERIT);
	condition = create(PILLION_DUAL_OBJECT_CONDITION, 0, 0);
	flags = create(PILLION_DUAL_OBJECT_FLAGS, 0, 0);
	for (i = 0; i < 4; i++)
		threads[i] = begin_thread(i ? PRIORITY - 1 + i : 0, is_hostile, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	check(!lock(mutex) && !unlock(mutex), "the mutex");
	check(CALL0(PILLION_DUAL_SERVICE_FIRST + PILLION_DUAL_SERVICE_END) == -ENOSYS, "a call that does not exist");
}

/*
 * A thread that enters primary mode by an ioctl leaves it with all bits of a register, and so does
 * a result.
 */
void services_registers(void)
{
	long result, semaphore, group;
	uint64_t rax;

	catch_faults();
	enter();
	semaphore = create(PILLION_DUAL_OBJECT_SEMAPHORE, 0, 0);
	to_linux();
	result = call(SYS_ioctl, device, PILLION_IOC_DUAL_CALL(PILLION_DUAL_SERVICE_SEMAPHORE_POST), semaphore, 0, 0, 0);
	rax = rax_of_fault(0x123456789abcdef0);
	check(!result, "SEMAPHORE_POST: %ld", result);
	check(rax == 0x123456789abcdef0, "rax is %#llx", (unsigned long long)rax);
	be_ordinary();
	group = create(PILLION_DUAL_OBJECT_FLAGS, 1u << 31, 0);
	result = SERVICE(FLAGS_WAIT, group, 1u << 31, TRY, 0);
	check(result == 1l << 31, "the last flag is %#lx", result);
}

static void keeps_memory(void *count)
{
	enter();
	to_primary();
	__atomic_add_fetch((uint32_t *)count, 1, __ATOMIC_SEQ_CST);
	pause();
}

/* A process for whose memory there is no number makes no objects, until another one has ended. */
void memories(void)
{
	pid_t children[PILLION_DUAL_MEMORIES];
	volatile uint32_t *count = shared(sizeof(*count));
	unsigned int i;
	long handle;

	if (is_native)
		return;
	for (i = 0; i < COUNT(children); i++)
		children[i] = spawn(keeps_memory, (void *)count);
	while (*count < COUNT(children))
		usleep(1000);
	enter();
	to_primary();
	handle = SERVICE(CREATE, PILLION_DUAL_OBJECT_SEMAPHORE, 0, 0, 0);
	check(handle == -EAGAIN, "a process without a number makes an object: %ld", handle);
	for (i = 0; i < COUNT(children); i++) {
		kill(children[i], SIGKILL);
		status_of(children[i]);
		if (i)
			continue;
		to_linux();
		to_primary();
		destroy(create(PILLION_DUAL_OBJECT_SEMAPHORE, 0, 0));
	}
}
