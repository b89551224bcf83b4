// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux with several processors: threads in primary mode are on the first one, and others of their
 * process on the last one at the same time; or threads in primary mode are on both. With one
 * processor, all of it holds as well.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pillion_channel.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "queues.h"
#include "test.h"

#define PAGE 4096u

/* How often something is taken away, and goes to and fro. */
#define CHANGES 200
#define FORKS 20
#define TURNS 300
#define STARTS 10

/* A test's other threads end. */
static volatile bool is_done;

static int last(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) - 1;
}

void go_to_processor(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	check(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity: %s", strerror(errno));
}

void go_to_last_processor(void)
{
	if (last())
		go_to_processor(last());
}

/* The calling thread may be on all processors. It stays where it is. */
static void go_anywhere(void)
{
	cpu_set_t set;
	int i;

	CPU_ZERO(&set);
	for (i = 0; i <= last(); i++)
		CPU_SET(i, &set);
	check(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity: %s", strerror(errno));
}

static int allowed(void)
{
	cpu_set_t set;

	check(!sched_getaffinity(0, sizeof(set), &set), "sched_getaffinity: %s", strerror(errno));
	return CPU_COUNT(&set);
}

/* A thread goes to dual mode's processor and stays there, unless it may not be there. */
void processors_stay(void)
{
	unsigned int i, at;

	go_to_last_processor();
	go_anywhere();
	enter();
	to_primary();
	check(is_native || is_primary(), "it did not enter primary mode");
	for (i = 0; i < 10; i++) {
		to_primary();
		check(!CALL2(SYS_getcpu, &at, NULL) && (is_native || !at), "in primary mode it is on processor %u", at);
		to_linux();
		check(!CALL2(SYS_getcpu, &at, NULL) && (is_native || !at), "in Linux it is on processor %u", at);
	}
	check(is_native || allowed() == 1, "it may be on %d processors", allowed());
	if (!last() || is_native)
		return;
	go_to_last_processor();
	to_primary();
	check(!is_primary(), "it is in primary mode in spite of its affinity");
	check(!CALL2(SYS_getcpu, &at, NULL) && at == (unsigned int)last(), "it is on processor %u", at);
	go_anywhere();
	to_primary();
	check(is_primary(), "it did not enter primary mode again");
}

/* Of threads that may be in primary mode on each processor. */
#define PERIOD (500 * MICROSECOND)
#define PERIODS 200
#define LOCKS 2000
#define SIGNALS 200
#define KILLS 40

static int processor(void)
{
	unsigned int at;

	check(!CALL2(SYS_getcpu, &at, NULL), "getcpu");
	return at;
}

/* A thread enters primary mode where it is, wakes up there, and comes back there. */
static void is_periodic_on(int where)
{
	int64_t next;
	unsigned int i;

	go_to_processor(where);
	to_primary();
	check(is_native || is_primary(), "it did not enter primary mode on processor %d", where);
	next = now(CLOCK_MONOTONIC) + PERIOD;
	for (i = 0; i < PERIODS; i++, next += PERIOD) {
		check(!sleep_until(CLOCK_MONOTONIC, next), "clock_nanosleep");
		check(now(CLOCK_MONOTONIC) >= next, "period %u ends too early", i);
		check(is_native || is_primary(), "it left primary mode in period %u", i);
		check(processor() == where, "in primary mode it is on processor %d, not on %d", processor(), where);
		if (i % 8)
			continue;
		to_linux();
		check(is_native || !is_primary(), "it is still in primary mode");
		check(processor() == where, "in Linux it is on processor %d, not on %d", processor(), where);
		next = now(CLOCK_MONOTONIC);
	}
}

/* A thread is in primary mode on each processor, where its affinity says; else where it was. */
void processors_each(void)
{
	int i, at;

	enter();
	for (i = 0; i < 4; i++)
		is_periodic_on(i % 2 ? 0 : last());
	for (i = 0; i < 2; i++) {
		at = i ? 0 : last();
		to_linux();
		go_to_processor(at);
		go_anywhere();
		to_primary();
		check(processor() == at, "it went to processor %d", processor());
		check(is_native || (is_primary() && allowed() == 1), "it may be on %d processors", allowed());
	}
}

static volatile pid_t wanderer;
static volatile int seen_on;

/* In primary mode it says where it is, and never comes to Linux by itself. */
static void *wanders(void *context)
{
	(void)context;
	go_to_processor(0);
	to_primary();
	wanderer = gettid();
	while (!is_done) {
		seen_on = is_native || is_primary() ? processor() : -1;
		sleep_for(CLOCK_MONOTONIC, MILLISECOND, NULL);
	}
	return NULL;
}

/* A thread in primary mode goes where another one moves it. */
void processors_moved(void)
{
	int64_t begin;
	pthread_t thread;
	cpu_set_t set;
	int i;

	mark(0);
	check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall: %s", strerror(errno));
	go_anywhere();
	thread = begin_thread(PRIORITY, wanders, NULL);
	while (!wanderer)
		usleep(1000);
	for (i = 1; i < 20; i++) {
		int where = i % 2 ? last() : 0;

		CPU_ZERO(&set);
		CPU_SET(where, &set);
		check(!sched_setaffinity(wanderer, sizeof(set), &set), "sched_setaffinity: %s", strerror(errno));
		for (begin = now(CLOCK_MONOTONIC); seen_on != where; usleep(1000))
			check(now(CLOCK_MONOTONIC) < begin + SECOND, "it is on processor %d (-1: in Linux), not on %d",
			      seen_on, where);
	}
	is_done = true;
	pthread_join(thread, NULL);
}

/* A processor with dual mode does not go off line. */
void processors_on_line(void)
{
	char name[64];
	int i, file;

	for (i = last(); i > 0 && !is_native; i--) {
		snprintf(name, sizeof(name), "/sys/devices/system/cpu/cpu%d/online", i);
		file = open(name, O_WRONLY);
		check(file >= 0, "%s: %s", name, strerror(errno));
		check(write(file, "0", 1) < 0 && errno == EBUSY, "processor %d: %s", i, strerror(errno));
		close(file);
	}
}

static pthread_mutex_t shared_mutex;
static volatile unsigned int shared_count, at_once;

static void *locks(void *processor)
{
	struct pillion_dual_thread seen = { .entries = 0 };
	unsigned int i;

	go_to_processor((uintptr_t)processor);
	to_primary();
	for (i = 0; i < LOCKS; i++) {
		check(!pthread_mutex_lock(&shared_mutex), "lock");
		check(!at_once++, "two threads have the mutex");
		shared_count++;
		at_once--;
		check(!pthread_mutex_unlock(&shared_mutex), "unlock");
		if (i % 16 == 0)
			to_primary();
	}
	check(is_native || (look(gettid(), &seen) && seen.entries && seen.waits > LOCKS / 32),
	      "it waited in primary mode %llu times", (unsigned long long)seen.waits);
	return NULL;
}

/* Threads of both processors have a mutex in turn. */
void processors_lock(void)
{
	static const int protocols[] = { PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT };
	pthread_mutexattr_t attributes;
	pthread_t threads[4];
	unsigned int i, j;

	mark(0);
	check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall: %s", strerror(errno));
	for (i = 0; i < COUNT(protocols); i++) {
		pthread_mutexattr_init(&attributes);
		pthread_mutexattr_setprotocol(&attributes, protocols[i]);
		pthread_mutex_init(&shared_mutex, &attributes);
		shared_count = 0;
		for (j = 0; j < COUNT(threads); j++)
			threads[j] = begin_thread(PRIORITY + j, locks, (void *)(uintptr_t)(j % 2 ? 0 : last()));
		for (j = 0; j < COUNT(threads); j++)
			pthread_join(threads[j], NULL);
		check(shared_count == COUNT(threads) * LOCKS, "%u turns", shared_count);
	}
}

static volatile unsigned int handled;

static void handles(int number)
{
	(void)number;
	handled++;
}

static volatile pid_t signalled;
static volatile bool has_seen_all;

/* Computes and sleeps in turn, in primary mode on the last processor. */
static void *is_signalled(void *context)
{
	unsigned int i;

	(void)context;
	go_to_last_processor();
	signalled = gettid();
	while (!has_seen_all) {
		sleep_for(CLOCK_MONOTONIC, 200 * MICROSECOND, NULL);
		for (i = 0; i < 5000 && !has_seen_all; i++)
			asm volatile("" ::: "memory");
	}
	return NULL;
}

/* Each signal from another processor is handled, whatever the thread does. */
void processors_signals(void)
{
	pthread_t thread;
	unsigned int i, j;

	signal(SIGUSR1, handles);
	mark(0);
	check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall: %s", strerror(errno));
	go_to_processor(0);
	thread = begin_thread(PRIORITY, is_signalled, NULL);
	while (!signalled)
		usleep(1000);
	for (i = 0; i < SIGNALS; i++) {
		unsigned int before = handled;

		usleep(100 + i * 37 % 500);
		check(!tgkill(getpid(), signalled, SIGUSR1), "tgkill: %s", strerror(errno));
		for (j = 0; handled == before && j < 1000; j++)
			usleep(1000);
		check(handled != before, "signal %u is not handled", i);
	}
	has_seen_all = true;
	pthread_join(thread, NULL);
}

static void is_killed(void *context)
{
	(void)context;
	enter();
	begin_thread(PRIORITY, is_signalled, NULL);
	go_to_processor(0);
	for (;;)
		to_primary();
}

/* Processes end from another processor at any point. */
void processors_kills(void)
{
	unsigned int i;

	for (i = 0; i < KILLS; i++) {
		pid_t child = spawn(is_killed, NULL);
		int status;

		usleep(5000 + i * 613 % 7000);
		kill(child, SIGKILL);
		status = status_of(child);
		check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "process %u: status %#x", i, status);
	}
}

static volatile uint64_t *cell;
static volatile unsigned int faults_seen;

/* Threads that count: the second one is on the last processor, in the mode that it has there. */
static volatile pid_t counters[2];
static pthread_t counting[2];

static void *map_page(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(page != MAP_FAILED, "mmap: %s", strerror(errno));
	return page;
}

static void faulted(int number)
{
	(void)number;
	faults_seen++;
	usleep(50);
}

/* Counts in primary mode, without a call for as long as a part of the budget. */
static void *counts(void *context)
{
	unsigned int i, me = (uintptr_t)context;

	counters[me] = gettid();
	if (me)
		go_to_last_processor();
	while (!is_done) {
		to_primary();
		for (i = 0; i < 4000 && !is_done; i++)
			cell[me]++;
	}
	return NULL;
}

static void spin(int64_t ns)
{
	int64_t end = now(CLOCK_MONOTONIC) + ns;

	while (now(CLOCK_MONOTONIC) < end)
		;
}

static void begin_to_count(void)
{
	unsigned int i;

	mark(0);
	check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall: %s", strerror(errno));
	cell = map_page();
	go_to_processor(0);
	for (i = 0; i < COUNT(counting); i++)
		counting[i] = begin_thread(PRIORITY, counts, (void *)(uintptr_t)i);
	go_to_last_processor();
	usleep(10000);
}

static void end_to_count(void)
{
	struct pillion_dual_thread seen = { .entries = 0 };
	unsigned int i;

	is_done = true;
	for (i = 0; i < COUNT(counting); i++) {
		pthread_join(counting[i], NULL);
		check(cell[i] > 0, "nothing was counted");
		if (is_native || (!look(counters[i], &seen) && i))
			continue;
		check(seen.waits > FORKS, "it waited in primary mode %llu times", (unsigned long long)seen.waits);
	}
}

static uint64_t counted(void)
{
	return cell[0] + cell[1];
}

/* As soon as a page is read-only, a thread that computes in primary mode writes it no more. */
void processors_protect(void)
{
	unsigned int i;

	signal(SIGSEGV, faulted);
	begin_to_count();
	for (i = 0; i < CHANGES; i++) {
		uint64_t before, after;

		check(!mprotect((void *)cell, PAGE, PROT_READ), "mprotect: %s", strerror(errno));
		before = counted();
		spin(20 * MICROSECOND);
		after = counted();
		check(before == after, "change %u: a page that is read-only was written: %llu more", i,
		      (unsigned long long)(after - before));
		check(!mprotect((void *)cell, PAGE, PROT_READ | PROT_WRITE), "mprotect: %s", strerror(errno));
		usleep(300 + i % 7 * 100);
	}
	check(faults_seen, "it never ran meanwhile");
	end_to_count();
}

/* A page that is replaced is written no more, and the new one is what the thread writes. */
void processors_replace(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE;
	volatile uint64_t *moved = map_page();
	unsigned int i;

	signal(SIGSEGV, faulted);
	begin_to_count();
	for (i = 0; i < CHANGES; i++) {
		uint64_t before;
		void *result;

		result = mremap((void *)cell, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)moved);
		check(result == moved, "mremap: %s", strerror(errno));
		before = moved[0] + moved[1];
		spin(20 * MICROSECOND);
		check(before == moved[0] + moved[1], "change %u: the page that was taken away was written", i);
		check(mmap((void *)cell, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0) == cell, "mmap");
		usleep(300 + i % 7 * 100);
	}
	end_to_count();
}

/* A child's memory is its own, and its parent's stays written. */
void processors_fork(void)
{
	unsigned int i;

	begin_to_count();
	for (i = 0; i < FORKS; i++) {
		uint64_t before = counted();
		pid_t child = fork();

		if (!child) {
			uint64_t seen = counted();

			spin(100 * MICROSECOND);
			_exit(counted() != seen);
		}
		check(child > 0 && !status_of(child), "the child of fork %u sees its parent's writes", i);
		usleep(2000);
		check(counted() != before, "the threads count elsewhere after fork %u", i);
	}
	end_to_count();
}

/* Rounds of a thread that computes in primary mode; odd: it does, at that moment. */
static volatile unsigned int rounds;

/* Instructions of a round, which end long after what the other thread does meanwhile. */
#define LONG 400000

static void *computes(void *context)
{
	unsigned int i;

	(void)context;
	counters[0] = gettid();
	go_to_processor(0);
	while (!is_done) {
		/* Linux leaves the thread's memory there. */
		sleep_for(CLOCK_MONOTONIC, 2 * MILLISECOND, NULL);
		rounds++;
		for (i = 0; i < LONG / 2; i++)
			asm volatile("" ::: "memory");
		rounds++;
	}
	return NULL;
}

/*
 * What is taken away beside a thread that computes in primary mode does not wait until that pauses.
 * Needs a budget of more than a round. Interrupts of Linux's can take some time now and then.
 */
void processors_at_once(void)
{
	struct pillion_dual_thread seen = { .entries = 0 };
	unsigned int i, at_once = 0;
	pthread_t thread;
	void *page;

	mark(0);
	check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall: %s", strerror(errno));
	page = map_page();
	go_to_last_processor();
	thread = begin_thread(PRIORITY, computes, NULL);
	usleep(20000);
	for (i = 0; i < CHANGES; i++) {
		unsigned int round;

		while (!(rounds & 1))
			;
		round = rounds;
		check(!mprotect(page, PAGE, i % 2 ? PROT_READ | PROT_WRITE : PROT_READ), "mprotect: %s", strerror(errno));
		at_once += rounds == round;
		while (rounds == round)
			;
	}
	is_done = true;
	pthread_join(thread, NULL);
	printf("%u of %u at once\n", at_once, CHANGES);
	check(is_native || (look(counters[0], &seen) && seen.waits >= CHANGES),
	      "it waited in primary mode %llu times", (unsigned long long)seen.waits);
	check(is_native || at_once >= CHANGES * 9 / 10, "%u of %u did not wait for the thread", at_once, CHANGES);
}

/* What goes to and fro between a thread in primary mode and one on another processor. */
static struct {
	uint32_t words[2];
	int files[2];
	mqd_t queues[2];
} between;

static void wait_by_futex(unsigned int side)
{
	while (!__atomic_exchange_n(&between.words[side], 0, __ATOMIC_SEQ_CST))
		CALL4(SYS_futex, &between.words[side], FUTEX_WAIT_PRIVATE, 0, NULL);
}

static void wake_by_futex(unsigned int side)
{
	__atomic_store_n(&between.words[side], 1, __ATOMIC_SEQ_CST);
	CALL4(SYS_futex, &between.words[side], FUTEX_WAKE_PRIVATE, 1, NULL);
}

static void wait_by_file(unsigned int side)
{
	uint64_t count;

	check(call(SYS_read, between.files[side], (long)&count, sizeof(count), 0, 0, 0) == sizeof(count) && count == 1,
	      "read");
}

static void wake_by_file(unsigned int side)
{
	uint64_t one = 1;

	check(call(SYS_write, between.files[side], (long)&one, sizeof(one), 0, 0, 0) == sizeof(one), "write");
}

/* Messages so far. */
static uint64_t put[2], got[2];

static void wait_by_queue(unsigned int side)
{
	uint64_t text;
	unsigned int priority;

	check(queue_receive(between.queues[side], &text, sizeof(text), &priority, 0) == sizeof(text), "receive");
	check(text == got[side]++, "message %llu instead of %llu", (unsigned long long)text,
	      (unsigned long long)got[side] - 1);
}

static void wake_by_queue(unsigned int side)
{
	uint64_t text = put[side]++;

	check(!queue_send(between.queues[side], &text, sizeof(text), 1, 0), "send");
}

static const struct way {
	void (*wait)(unsigned int side);
	void (*wake)(unsigned int side);
} ways[] = {
	{ wait_by_futex, wake_by_futex },
	{ wait_by_file, wake_by_file },
	{ wait_by_queue, wake_by_queue },
};

static void *answers(void *context)
{
	const struct way *way = context;
	unsigned int i;

	counters[0] = gettid();
	go_to_processor(0);
	for (i = 0; i < TURNS; i++) {
		way->wait(0);
		way->wake(1);
	}
	return NULL;
}

static void *asks(void *context)
{
	const struct way *way = context;
	unsigned int i;

	go_to_last_processor();
	for (i = 0; i < TURNS; i++) {
		way->wake(0);
		way->wait(1);
	}
	return NULL;
}

void processors_turns(void)
{
	struct pillion_dual_thread seen;
	unsigned int i;

	mark(0);
	check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall: %s", strerror(errno));
	for (i = 0; i < 2; i++) {
		between.files[i] = eventfd(0, 0);
		check(between.files[i] >= 0, "eventfd: %s", strerror(errno));
		between.queues[i] = make_queue(4, sizeof(uint64_t), 0);
	}
	/*
	 * With an ordinary thread, and with one that is in primary mode where it can: then one may
	 * be done before the other one waits.
	 */
	for (i = 0; i < 2 * COUNT(ways); i++) {
		pthread_t primary, other;

		put[0] = put[1] = got[0] = got[1] = 0;
		primary = begin_thread(PRIORITY, answers, (void *)&ways[i % COUNT(ways)]);
		other = begin_thread(i < COUNT(ways) ? 0 : PRIORITY, asks, (void *)&ways[i % COUNT(ways)]);
		pthread_join(other, NULL);
		pthread_join(primary, NULL);
		check(is_native || (look(counters[0], &seen) && seen.entries && seen.waits >= TURNS / 16),
		      "way %u: %llu waits in primary mode", i, (unsigned long long)seen.waits);
	}
}

/* Makes calls in primary mode from another processor, without a break, until it is told to end. */
static void calls(void *stop)
{
	volatile uint32_t *is_over = stop;

	mark(0);
	go_to_last_processor();
	while (!*is_over)
		service(PILLION_DUAL_SERVICE_SEMAPHORE_POST, 1, 0, 0, 0);
}

/* No thread is lost, whenever the task is started anew, if it comes back before that ends. */
void processors_anew(void)
{
	volatile uint32_t *is_over = shared(sizeof(*is_over));
	unsigned int i;
	pid_t child;

	if (is_native)
		return;
	child = spawn(calls, (void *)is_over);
	for (i = 0; i < STARTS; i++) {
		usleep(1000 + i * 37);
		check(!system("pillion unload dual && pillion load dual"), "start %u", i);
	}
	*is_over = 1;
	check(!status_of(child), "a thread was lost");
}
