// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program for Xenomai 3: mutexes, and how urgent their owner is. Its threads share one processor,
 * so that their order is that of their priorities.
 */
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/cobalt.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xenomai/init.h>

#include "../check.h"

static bool has_primary;

/* What happened, a letter each. */
static char story[16];
static unsigned int told;

static void tell(char what)
{
	story[told++] = what;
}

static void begin(void)
{
	memset(story, 0, sizeof(story));
	told = 0;
}

static pthread_mutex_t mutex;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t middle, high;

static void make(int protocol, int ceiling, int type)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutexattr_setprotocol(&attributes, protocol);
	if (ceiling)
		check(!pthread_mutexattr_setprioceiling(&attributes, ceiling));
	check(!pthread_mutex_init(&mutex, &attributes));
	pthread_mutexattr_destroy(&attributes);
}

static void *runs_between(void *nothing)
{
	check(!sem_wait(&middle));
	tell('m');
	return nothing;
}

static void *locks(void *nothing)
{
	check(!sem_wait(&high) && !pthread_mutex_lock(&mutex));
	tell('h');
	check(!pthread_mutex_unlock(&mutex));
	return nothing;
}

/* Wakes a thread that wants the mutex, and one of middle priority. */
static void *owns(void *nothing)
{
	check(!pthread_mutex_lock(&mutex));
	tell('(');
	check(!sem_post(&high) && !sem_post(&middle));
	tell(')');
	check(!pthread_mutex_unlock(&mutex));
	tell('l');
	return nothing;
}

static void three(int protocol, int ceiling, const char *expected)
{
	pthread_t threads[3];
	int i;

	begin();
	make(protocol, ceiling, PTHREAD_MUTEX_NORMAL);
	check(!sem_init(&middle, 0, 0) && !sem_init(&high, 0, 0));
	threads[0] = start(30, locks, NULL);
	threads[1] = start(20, runs_between, NULL);
	rest(20 * MS);
	threads[2] = start(10, owns, NULL);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("order with protocol %d, ceiling %d: %s\n", protocol, ceiling, story);
	check(!strcmp(story, expected));
	check(!pthread_mutex_destroy(&mutex) && !sem_destroy(&middle) && !sem_destroy(&high));
}

/* Without a protocol, the thread of middle priority runs while the more urgent one waits. */
static void orders(void)
{
	three(PTHREAD_PRIO_NONE, 0, "(m)hl");
	three(PTHREAD_PRIO_INHERIT, 0, "()hml");
	three(PTHREAD_PRIO_PROTECT, 40, "()hml");
	printf("ok orders\n");
}

static long since(const struct timespec *begin, const struct timespec *end)
{
	return (end->tv_sec - begin->tv_sec) * SECOND + end->tv_nsec - begin->tv_nsec;
}

/* A mutex that is free costs no call, in primary mode and in Linux. */
static void *is_free(void *nothing)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK };
	struct cobalt_threadstat before, after;
	struct timespec begin, end;
	unsigned int i, n;
	long cost;

	for (i = 0; i < 3; i++) {
		make(PTHREAD_PRIO_INHERIT, 0, types[i]);
		check(!cobalt_thread_stat(0, &before));
		check(!cobalt_thread_harden() || !has_primary);
		/* So few that the thread's budget does not end meanwhile. */
		rest(5 * MS);
		clock_gettime(CLOCK_MONOTONIC, &begin);
		for (n = 0; n < 100; n++)
			check(!pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex));
		clock_gettime(CLOCK_MONOTONIC, &end);
		cost = since(&begin, &end) / 100;
		for (n = 0; n < 1000; n++)
			check(!pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex));
		for (n = 0; n < 1000; n++)
			check(!pthread_mutex_trylock(&mutex) && !pthread_mutex_unlock(&mutex));
		check(!cobalt_thread_stat(0, &after) && after.xsc - before.xsc < 10);
		check(!pthread_mutex_destroy(&mutex));
		printf("a free mutex of type %d costs %ld ns\n", types[i], cost);
	}
	printf("ok free ones\n");
	return nothing;
}

#define ROUNDS 400

static volatile unsigned long sum, waited;

/* Sometimes it leaves others no choice but to wait, sometimes it does not wait for long itself. */
static void *adds(void *number)
{
	unsigned int own = *(unsigned int *)number, i;
	struct timespec end;
	unsigned long seen;
	int error;

	for (i = 0; i < ROUNDS; i++) {
		if ((i + own) % 5) {
			check(!pthread_mutex_lock(&mutex));
		} else {
			do {
				end = soon(CLOCK_REALTIME, MS / 20);
				error = pthread_mutex_timedlock(&mutex, &end);
				check(!error || error == ETIMEDOUT);
			} while (error);
		}
		seen = sum;
		if ((i * 7 + own) % 11 == 0) {
			rest(MS / 10);
			waited++;
		}
		sum = seen + 1;
		check(!pthread_mutex_unlock(&mutex));
		if ((i + own) % 13 == 0)
			rest(MS / 20);
		/* On the way to Linux and back. */
		if (i % 97 == own)
			getppid();
	}
	return NULL;
}

/* Threads of all priorities; two are ordinary ones, which cannot rise to a ceiling in Linux. */
static void storm(int protocol)
{
	int lowest = protocol == PTHREAD_PRIO_PROTECT ? 5 : 0;
	static unsigned int numbers[6] = { 0, 1, 2, 3, 4, 5 };
	pthread_t threads[6];
	unsigned int i;

	make(protocol, protocol == PTHREAD_PRIO_PROTECT ? 50 : 0, PTHREAD_MUTEX_NORMAL);
	sum = waited = 0;
	for (i = 0; i < 6; i++)
		threads[i] = start(i < 2 ? lowest : (int)(10 * i), adds, &numbers[i]);
	for (i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	printf("%lu of %u times with protocol %d, %lu slept in\n", sum, 6 * ROUNDS, protocol, waited);
	check(sum == 6 * ROUNDS && !pthread_mutex_destroy(&mutex));
}

static void *is_above(void *nothing)
{
	int ceiling, old = -1;

	make(PTHREAD_PRIO_PROTECT, 40, PTHREAD_MUTEX_ERRORCHECK);
	check(!pthread_mutex_getprioceiling(&mutex, &ceiling) && ceiling == 40);
	check(pthread_mutex_lock(&mutex) == EINVAL && pthread_mutex_trylock(&mutex) == EINVAL);
	check(pthread_mutex_unlock(&mutex) == EPERM);
	check(pthread_mutex_setprioceiling(&mutex, 100, &old) == EINVAL && pthread_mutex_setprioceiling(&mutex, 0, &old) == EINVAL);
	check(!pthread_mutex_setprioceiling(&mutex, 60, &old) && old == 40);
	check(!pthread_mutex_getprioceiling(&mutex, &ceiling) && ceiling == 60);
	check(!pthread_mutex_lock(&mutex) && pthread_mutex_lock(&mutex) == EDEADLK);
	check(pthread_mutex_setprioceiling(&mutex, 61, &old) == EDEADLK);
	check(!pthread_mutex_unlock(&mutex) && !pthread_mutex_destroy(&mutex));
	make(PTHREAD_PRIO_INHERIT, 0, PTHREAD_MUTEX_NORMAL);
	check(pthread_mutex_setprioceiling(&mutex, 60, &old) == EINVAL && pthread_mutex_getprioceiling(&mutex, &old) == EINVAL);
	check(!pthread_mutex_destroy(&mutex));
	printf("ok limits\n");
	return nothing;
}

static void *holds(void *nothing)
{
	check(!pthread_mutex_lock(&mutex));
	check(!sem_post(&high));
	rest(20 * MS);
	tell('u');
	check(!pthread_mutex_unlock(&mutex));
	return nothing;
}

/* It waits for the owner, which keeps the ceiling with which it locked the mutex. */
static void *sets(void *nothing)
{
	pthread_t owner;
	int old;

	begin();
	make(PTHREAD_PRIO_PROTECT, 40, PTHREAD_MUTEX_RECURSIVE);
	check(!sem_init(&high, 0, 0));
	owner = start(10, holds, NULL);
	check(!sem_wait(&high) && !pthread_mutex_setprioceiling(&mutex, 45, &old) && old == 40);
	tell('s');
	pthread_join(owner, NULL);
	check(!strcmp(story, "us") && !pthread_mutex_destroy(&mutex) && !sem_destroy(&high));
	printf("ok setting\n");
	return nothing;
}

static bool is_set;

/* Signals the condition, and ends without unlocking the mutex. */
static void *ends(void *nothing)
{
	check(!pthread_mutex_lock(&mutex));
	is_set = true;
	check(!pthread_cond_signal(&cond));
	return nothing;
}

static void *robust(void *nothing)
{
	pthread_mutexattr_t attributes;
	pthread_t thread;
	int error = 0;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	check(!pthread_mutex_init(&mutex, &attributes) && !pthread_mutex_lock(&mutex));
	check(pthread_mutex_consistent(&mutex) == EINVAL);
	/* The next owner is told, also after a condition. */
	is_set = false;
	thread = start(10, ends, NULL);
	while (!is_set && !error)
		error = pthread_cond_wait(&cond, &mutex);
	check(error == EOWNERDEAD && !pthread_mutex_consistent(&mutex) && !pthread_mutex_unlock(&mutex));
	pthread_join(thread, NULL);
	pthread_join(start(10, ends, NULL), NULL);
	check(pthread_mutex_trylock(&mutex) == EOWNERDEAD && !pthread_mutex_consistent(&mutex));
	check(!pthread_mutex_unlock(&mutex) && !pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex));
	/* It is not mended. */
	pthread_join(start(10, ends, NULL), NULL);
	check(pthread_mutex_lock(&mutex) == EOWNERDEAD && !pthread_mutex_unlock(&mutex));
	check(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE && pthread_mutex_trylock(&mutex) == ENOTRECOVERABLE);
	check(!pthread_mutex_destroy(&mutex));
	pthread_mutexattr_destroy(&attributes);
	printf("ok a robust one\n");
	return nothing;
}

static void *gives_up(void *nothing)
{
	struct timespec end = soon(CLOCK_REALTIME, 5 * MS);

	check(!pthread_mutex_lock(&mutex) && !pthread_mutex_lock(&mutex));
	is_set = false;
	check(pthread_cond_timedwait(&cond, &mutex, &end) == ETIMEDOUT);
	/* One that is locked several times is given up as a whole; in Linux alone, it is not. */
	while (has_primary && !is_set)
		check(!pthread_cond_wait(&cond, &mutex));
	check(!pthread_mutex_unlock(&mutex) && !pthread_mutex_unlock(&mutex) && pthread_mutex_unlock(&mutex) == EPERM);
	return nothing;
}

/* Ends with the mutex locked several times. */
static void *keeps(void *nothing)
{
	check(!pthread_mutex_lock(&mutex) && !pthread_mutex_lock(&mutex) && !pthread_mutex_lock(&mutex));
	return nothing;
}

static void *tries(void *nothing)
{
	check(!pthread_mutex_trylock(&mutex) && !pthread_mutex_unlock(&mutex));
	return nothing;
}

static void *recursive(void *nothing)
{
	pthread_t waiter;

	make(PTHREAD_PRIO_INHERIT, 0, PTHREAD_MUTEX_RECURSIVE);
	waiter = start(20, gives_up, NULL);
	rest(20 * MS);
	check(!pthread_mutex_lock(&mutex));
	is_set = true;
	check(!pthread_cond_broadcast(&cond) && !pthread_mutex_unlock(&mutex));
	pthread_join(waiter, NULL);
	check(!pthread_mutex_destroy(&mutex));
	printf("ok a recursive one\n");
	return nothing;
}

static void *waits(void *nothing)
{
	check(!pthread_mutex_lock(&mutex));
	while (!is_set)
		check(!pthread_cond_wait(&cond, &mutex));
	tell('w');
	check(!pthread_mutex_unlock(&mutex));
	tell('a');
	return nothing;
}

/* A thread that is woken gets the ceiling with the mutex, before it runs. */
static void *signals(void *nothing)
{
	pthread_t waiter;

	begin();
	is_set = false;
	make(PTHREAD_PRIO_PROTECT, 40, PTHREAD_MUTEX_NORMAL);
	waiter = start(10, waits, NULL);
	rest(20 * MS);
	check(!pthread_mutex_lock(&mutex));
	is_set = true;
	check(!pthread_cond_signal(&cond));
	tell('s');
	check(!pthread_mutex_unlock(&mutex));
	tell('e');
	pthread_join(waiter, NULL);
	/* The C library's conditions do not know who gets the mutex. */
	check(!strcmp(story, has_primary ? "swea" : "sewa") && !pthread_mutex_destroy(&mutex));
	printf("ok a condition\n");
	return nothing;
}

/* The next owner has locked it as often as it did itself. */
static void *inherits(void *nothing)
{
	if (!has_primary)
		return nothing;
	make(PTHREAD_PRIO_INHERIT, 0, PTHREAD_MUTEX_RECURSIVE);
	pthread_join(start(10, keeps, NULL), NULL);
	check(!pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex));
	pthread_join(start(10, tries, NULL), NULL);
	check(!pthread_mutex_destroy(&mutex));
	printf("ok next owners\n");
	return nothing;
}

static void *waits_for_it(void *nothing)
{
	check(!pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex));
	return nothing;
}

/* What a child has of its parent is made anew there. */
static void *forks(void *nothing)
{
	struct timespec end;
	pthread_t waiter;
	pid_t child;
	int status;

	make(PTHREAD_PRIO_INHERIT, 0, PTHREAD_MUTEX_ERRORCHECK);
	check(!pthread_cond_signal(&cond));
	child = fork();
	if (!child) {
		check(!pthread_mutex_lock(&mutex));
		end = soon(CLOCK_REALTIME, MS);
		check(pthread_cond_timedwait(&cond, &mutex, &end) == ETIMEDOUT);
		waiter = start(30, waits_for_it, NULL);
		rest(5 * MS);
		check(!pthread_mutex_unlock(&mutex));
		pthread_join(waiter, NULL);
		check(!pthread_mutex_destroy(&mutex) && !pthread_mutex_init(&mutex, NULL));
		_exit(0);
	}
	check(child > 0 && waitpid(child, &status, 0) == child && !status);
	check(!pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex) && !pthread_mutex_destroy(&mutex));
	printf("ok a child\n");
	return nothing;
}

int main(int argc, char *const *argv)
{
	static const struct {
		int priority;
		void *(*run)(void *);
	} tests[] = { { 50, is_free }, { 50, is_above }, { 40, sets }, { 20, signals }, { 20, recursive }, { 20, robust },
		    { 20, inherits }, { 20, forks } };
	cpu_set_t one;
	int status;
	unsigned int i;

	xenomai_init(&argc, &argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	check(cobalt_corectl(_CC_COBALT_GET_CORE_STATUS, &status, sizeof(status)) == sizeof(status));
	has_primary = status == COBALT_STATE_RUNNING;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	check(!sched_setaffinity(0, sizeof(one), &one));
	orders();
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		pthread_join(start(tests[i].priority, tests[i].run, NULL), NULL);
	for (i = 0; i < 3; i++)
		storm((const int[]){ PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT, PTHREAD_PRIO_PROTECT }[i]);
	printf("mutexes: good\n");
	return 0;
}
