// SPDX-License-Identifier: GPL-2.0-only
#include "sampling.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/cobalt.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

/* Seconds that can wait until they are shown; a power of two. */
#define RING 16

static struct sampling how;
static pthread_t thread;
static pid_t tid;
static unsigned long switches_before, switches;
static struct cobalt_threadstat last;

/* The present second, and those that are complete. */
static struct samples current, ring[RING];
static unsigned long given, taken;
/* The C library's: it wakes a thread in Linux from primary mode. */
static sem_t is_given;

static volatile bool ends;
/* Why the thread went to Linux first, one of SIGDEBUG's reasons; -1: it did not. */
static volatile sig_atomic_t reason = -1;

static void is_warned(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (ends || reason >= 0)
		return;
	reason = sigdebug_marked(info) ? sigdebug_reason(info) : SIGDEBUG_UNDEFINED;
	__STD(sem_post(&is_given));
}

static void add(struct samples *samples, int64_t late)
{
	struct samples one = { .count = 1, .shortest = late, .longest = late, .sum = late };

	one.overruns = late / how.period;
	samples_merge(samples, &one);
}

/* If there is no room, the second becomes a longer one. */
static void give(struct samples *samples)
{
	if (given - __atomic_load_n(&taken, __ATOMIC_ACQUIRE) == RING)
		return;
	ring[given % RING] = *samples;
	__atomic_store_n(&given, given + 1, __ATOMIC_RELEASE);
	__STD(sem_post(&is_given));
	*samples = (struct samples){ 0 };
}

/* Waits for a time, and returns how late it is; negative: it was a signal. */
static int64_t wait_until(int64_t release)
{
	struct timespec time = { release / SECOND, release % SECOND };

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) ? -1 : now() - release;
}

/* The seconds count from 0; the first one is for warming up. */
static void *sample(void *nothing)
{
	int64_t release = now() + how.period, end = release + SECOND, late;
	long second = 0;

	if (how.breaks)
		pthread_setmode_np(0, PTHREAD_WARNSW, NULL);
	while (!ends) {
		late = wait_until(release);
		if (late < 0)
			continue;
		release += (late / how.period + 1) * how.period;
		/* What was looked at is shown; the thread stays where it is. */
		if (how.seconds && second > how.seconds)
			continue;
		add(&current, late);
		if (how.histogram && second)
			histogram_add(how.histogram, late);
		if (release < end)
			continue;
		end += SECOND;
		second++;
		give(&current);
	}
	if (how.breaks)
		pthread_setmode_np(PTHREAD_WARNSW, 0, NULL);
	return nothing;
}

static struct cobalt_threadstat stat(void)
{
	struct cobalt_threadstat stat;

	if (cobalt_thread_stat(tid, &stat))
		memset(&stat, 0, sizeof(stat));
	return stat;
}

bool sampling_takes(struct sampling *sampling, int option, const char *value)
{
	switch (option) {
	case 'p':
		sampling->period = number_of("-p", value, 1, 1000000) * MICROSECOND;
		return true;
	case 'P':
		sampling->priority = number_of("-P", value, 1, 99);
		return true;
	case 'c':
		sampling->cpu = cpu_of("-c", value);
		return true;
	default:
		return false;
	}
}

void sampling_begin(const struct sampling *sampling)
{
	struct sigaction action = { .sa_sigaction = is_warned, .sa_flags = SA_SIGINFO };
	struct samples warm_up;

	how = *sampling;
	sigaction(SIGDEBUG, &action, NULL);
	__STD(sem_init(&is_given, 0, 0));
	hold_interrupts();
	thread = start(how.priority, how.cpu, sample, NULL);
	take_interrupts();
	tid = cobalt_thread_pid(thread);
	if (!sampling_next(&warm_up))
		return;
	if (stat().status & XNRELAX && !stat().msw)
		fail("the thread of priority %d is not in primary mode; end other programs in primary mode, or raise "
		     "`threads` in the section [dual] of the system file", how.priority);
	switches_before = stat().msw;
}

bool sampling_next(struct samples *samples)
{
	while (!interrupted && __STD(sem_wait(&is_given)) && errno == EINTR)
		;
	if (interrupted || reason >= 0)
		return false;
	*samples = ring[taken % RING];
	__atomic_store_n(&taken, taken + 1, __ATOMIC_RELEASE);
	return true;
}

unsigned long sampling_switches(void)
{
	switches = stat().msw - switches_before;
	return switches;
}

const char *sampling_broken(void)
{
	static const char *const names[] = {
		[SIGDEBUG_UNDEFINED] = "an unknown reason",
		[SIGDEBUG_MIGRATE_SIGNAL] = "a signal of Linux",
		[SIGDEBUG_MIGRATE_SYSCALL] = "a system call",
		[SIGDEBUG_MIGRATE_FAULT] = "a page fault, or another exception",
		[SIGDEBUG_NOMLOCK] = "memory that is not locked",
		[SIGDEBUG_WATCHDOG] = "the watchdog",
	};
	unsigned int number = reason;

	/* Nobody is warned of this one. */
	if (reason < 0)
		return how.breaks && switches ? "the process was stopped, by a signal or a debugger" : NULL;
	return number < sizeof(names) / sizeof(names[0]) && names[number] ? names[number] : names[0];
}

void sampling_tell(void)
{
	printf("# thread %d: %llu waits, %llu calls answered in primary mode\n", tid, last.csw, last.xsc);
}

void sampling_end(struct samples *rest)
{
	last = stat();
	ends = true;
	pthread_join(thread, NULL);
	*rest = given ? current : (struct samples){ 0 };
}

void samples_merge(struct samples *into, const struct samples *from)
{
	if (!from->count)
		return;
	if (!into->count || from->shortest < into->shortest)
		into->shortest = from->shortest;
	if (!into->count || from->longest > into->longest)
		into->longest = from->longest;
	into->count += from->count;
	into->sum += from->sum;
	into->overruns += from->overruns;
}

double samples_average(const struct samples *samples)
{
	return samples->count ? (double)samples->sum / samples->count : 0;
}
