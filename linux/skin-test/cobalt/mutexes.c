// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program for Xenomai 3: mutexes that say how urgent their owner is. Its threads share one
 * processor, so that their order is that of their priorities.
 */
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/cobalt.h>
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
	check(!sem_post(&middle) && !sem_post(&high));
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

/* With a ceiling, the owner goes on as if nobody had been woken. */
static void ceilings(void)
{
	three(PTHREAD_PRIO_NONE, 0, "(m)hl");
	three(PTHREAD_PRIO_PROTECT, 40, "()hml");
	printf("ok ceilings\n");
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

int main(int argc, char *const *argv)
{
	static const struct {
		int priority;
		void *(*run)(void *);
	} tests[] = { { 50, is_above }, { 40, sets }, { 20, signals } };
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
	ceilings();
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		pthread_join(start(tests[i].priority, tests[i].run, NULL), NULL);
	printf("mutexes: good\n");
	return 0;
}
