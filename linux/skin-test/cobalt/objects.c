// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program for Xenomai 3: POSIX and Cobalt's own names, and nothing of Pillion's. Each test says
 * what it found; the first failure ends the program.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/cobalt.h>
#include <time.h>
#include <unistd.h>
#include <xenomai/init.h>

#include "../check.h"

/* Whether there is primary mode; in Linux alone, all else is the same. */
static int has_primary(void)
{
	int status;

	check(cobalt_corectl(_CC_COBALT_GET_CORE_STATUS, &status, sizeof(status)) == sizeof(status));
	return status == COBALT_STATE_RUNNING;
}

static int is_primary(void)
{
	return !has_primary() || cobalt_thread_mode() == 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t empty, full;
static int slots[4], first, last;
static unsigned long sum;

static void *produces(void *nothing)
{
	int i;

	for (i = 1; i <= 1000; i++) {
		check(!sem_wait(&empty));
		check(!pthread_mutex_lock(&mutex));
		slots[last++ % 4] = i;
		check(!pthread_mutex_unlock(&mutex));
		check(!sem_post(&full));
	}
	check(is_primary());
	return nothing;
}

static void *consumes(void *nothing)
{
	int i;

	for (i = 1; i <= 1000; i++) {
		check(!sem_wait(&full));
		check(!pthread_mutex_lock(&mutex));
		sum += slots[first++ % 4];
		check(!pthread_mutex_unlock(&mutex));
		check(!sem_post(&empty));
	}
	return nothing;
}

/* A bounded buffer between threads of two priorities, one of which may be an ordinary one. */
static void buffer(int consumer)
{
	pthread_t threads[2];
	int value;

	first = last = 0;
	sum = 0;
	check(!sem_init(&empty, 0, 4) && !sem_init(&full, 0, 0));
	threads[0] = start(50, produces, NULL);
	threads[1] = start(consumer, consumes, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	check(sum == 1000 * 1001 / 2);
	check(!sem_getvalue(&empty, &value) && value == 4 && !sem_destroy(&empty) && !sem_destroy(&full));
	printf("ok buffer, priority %d\n", consumer);
}

static int turn;

static void *waits(void *own)
{
	int i;

	for (i = 0; i < 100; i++) {
		check(!pthread_mutex_lock(&mutex));
		while (turn % 3 != *(int *)own)
			check(!pthread_cond_wait(&cond, &mutex));
		turn++;
		check(!pthread_cond_broadcast(&cond));
		check(!pthread_mutex_unlock(&mutex));
	}
	return NULL;
}

static void *conditions(void *nothing)
{
	static int numbers[3] = { 0, 1, 2 };
	struct timespec end;
	pthread_condattr_t attributes;
	pthread_t threads[3];
	pthread_cond_t own;
	int i;

	for (i = 0; i < 3; i++)
		threads[i] = start(i ? 40 + i : 0, waits, &numbers[i]);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	check(turn == 300);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	check(!pthread_cond_init(&own, &attributes) && !pthread_mutex_lock(&mutex));
	end = soon(CLOCK_MONOTONIC, SECOND / 1000);
	check(pthread_cond_timedwait(&own, &mutex, &end) == ETIMEDOUT);
	check(is_primary());
	check(!pthread_mutex_unlock(&mutex) && (!has_primary() || pthread_cond_init(&own, NULL) == EBUSY));
	check(!pthread_cond_destroy(&own) && (!has_primary() || pthread_cond_signal(&own) == EINVAL));
	check(!pthread_cond_init(&own, NULL) && !pthread_cond_destroy(&own));
	printf("ok conditions\n");
	return nothing;
}

static void *locks_and_ends(void *of)
{
	check(!pthread_mutex_lock(of));
	pthread_exit(NULL);
}

static void *mutexes(void *nothing)
{
	pthread_mutex_t own, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	pthread_mutexattr_t attributes;
	struct timespec end;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	check(!pthread_mutex_init(&own, &attributes));
	check(!pthread_mutex_lock(&own) && pthread_mutex_lock(&own) == EDEADLK && pthread_mutex_trylock(&own));
	check(!pthread_mutex_unlock(&own) && pthread_mutex_unlock(&own) == EPERM);
	check(!pthread_mutex_lock(&recursive) && !pthread_mutex_trylock(&recursive));
	check(!pthread_mutex_unlock(&recursive) && !pthread_mutex_unlock(&recursive));
	/* A thread that ends in primary mode leaves nothing locked. */
	if (has_primary())
		pthread_join(start(30, locks_and_ends, &own), NULL);
	check(!pthread_mutex_lock(&own));
	end = soon(CLOCK_REALTIME, SECOND / 1000);
	check(!pthread_mutex_unlock(&own) && !pthread_mutex_timedlock(&own, &end));
	check(pthread_mutex_destroy(&own) == EBUSY && !pthread_mutex_unlock(&own) && !pthread_mutex_destroy(&own));
	/* With a priority that its owner gets. */
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT);
	pthread_mutexattr_setprioceiling(&attributes, 60);
	check(!pthread_mutex_init(&own, &attributes) && !pthread_mutex_lock(&own) && !pthread_mutex_unlock(&own));
	check(!pthread_mutex_destroy(&own));
	/* What is made already, and what is none any more. */
	check(!pthread_mutex_init(&own, NULL) && (!has_primary() || pthread_mutex_init(&own, NULL) == EBUSY));
	check(!pthread_mutex_destroy(&own) && pthread_mutex_destroy(&own) == EINVAL);
	check(pthread_mutex_lock(&own) == EINVAL && !pthread_mutex_init(&own, NULL) && !pthread_mutex_destroy(&own));
	printf("ok mutexes\n");
	return nothing;
}

static volatile sig_atomic_t warnings, reason, inversions;

static void is_warned(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	warnings++;
	reason = sigdebug_marked(info) ? sigdebug_reason(info) : -1;
	inversions += reason == SIGDEBUG_MIGRATE_PRIOINV;
}

static pthread_mutex_t of_linux = PTHREAD_MUTEX_INITIALIZER;
static volatile bool is_held;

/* Owns a mutex in Linux. */
static void *holds(void *nothing)
{
	check(!pthread_mutex_lock(&of_linux));
	cobalt_thread_relax();
	is_held = true;
	usleep(20000);
	check(!pthread_mutex_unlock(&of_linux));
	return nothing;
}

/* Owns a mutex in primary mode, and goes to Linux while another thread waits for it. */
static void *leaves(void *nothing)
{
	struct timespec moment = { 0, 5000000 };

	check(!pthread_mutex_lock(&of_linux));
	is_held = true;
	check(!nanosleep(&moment, NULL) && is_primary() && !inversions);
	cobalt_thread_relax();
	usleep(20000);
	check(inversions == 1);
	check(!pthread_mutex_unlock(&of_linux));
	return nothing;
}

static void *switches(void *nothing)
{
	check(!cobalt_thread_harden());
	getppid();
	return nothing;
}

static void *modes(void *nothing)
{
	struct sigaction action = { .sa_sigaction = is_warned, .sa_flags = SA_SIGINFO };
	struct timespec moment = { 0, 1000000 };
	struct cobalt_threadstat stat;
	pthread_t owner;
	int old, i;

	check(!sigaction(SIGDEBUG, &action, NULL));
	if (!has_primary())
		return nothing;
	check(!cobalt_thread_harden() && is_primary());
	check(!cobalt_thread_relax() && cobalt_thread_mode() == XNRELAX && !warnings);
	check(!pthread_setmode_np(0, PTHREAD_CONFORMING, &old) && !old && is_primary());
	check(!pthread_setmode_np(0, PTHREAD_WARNSW, &old) && !old);
	check(!pthread_setmode_np(0, PTHREAD_LOCK_SCHED, NULL) && !pthread_setmode_np(PTHREAD_LOCK_SCHED, 0, NULL));
	check(!warnings && is_primary());
	for (i = 1; i <= 10; i++) {
		getppid();
		check(warnings == i && reason == SIGDEBUG_MIGRATE_SYSCALL);
		check(!cobalt_thread_harden());
	}
	/* A thread is told that it waits for one in Linux, and waits in primary mode. */
	for (owner = start(0, holds, NULL); !is_held;)
		nanosleep(&moment, NULL);
	check(!cobalt_thread_harden());
	warnings = 0;
	check(!pthread_mutex_lock(&of_linux) && warnings == 1 && reason == SIGDEBUG_MIGRATE_PRIOINV && is_primary());
	check(!pthread_mutex_unlock(&of_linux));
	pthread_join(owner, NULL);
	/* It is told as well if the owner goes there later. */
	is_held = false;
	inversions = 0;
	for (owner = start(40, leaves, NULL); !is_held;)
		nanosleep(&moment, NULL);
	check(!cobalt_thread_harden());
	check(!pthread_mutex_lock(&of_linux) && inversions == 1 && is_primary() && !pthread_mutex_unlock(&of_linux));
	pthread_join(owner, NULL);
	/* Others are not told, nor is it told of what it asks for knowingly. */
	warnings = 0;
	pthread_join(start(60, switches, NULL), NULL);
	check(!warnings);
	check(!cobalt_thread_harden() && !cobalt_thread_stat(0, &stat) && stat.msw > 0);
	check(!cobalt_thread_harden() && !cobalt_thread_relax() && cobalt_thread_mode() == XNRELAX);
	check(!cobalt_thread_harden());
	check(!pthread_setmode_np(PTHREAD_WARNSW, 0, &old) && old == PTHREAD_WARNSW);
	check(!cobalt_thread_harden());
	getppid();
	check(!warnings);
	check(pthread_setmode_np(0, 1, NULL) == EINVAL);
	printf("ok modes\n");
	return nothing;
}

static void *periods(void *nothing)
{
	struct timespec start = soon(CLOCK_REALTIME, 2000000), period = { 0, 1000000 }, late;
	unsigned long overruns;
	int i;

	check(pthread_wait_np(&overruns) == EWOULDBLOCK);
	check(!pthread_make_periodic_np(pthread_self(), &start, &period));
	/* In Linux, a period may be missed. */
	for (i = 0; i < 50; i++)
		check((!pthread_wait_np(&overruns) && !overruns) || !has_primary());
	late = soon(CLOCK_MONOTONIC, 3500000);
	check(!clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &late, NULL));
	check(pthread_wait_np(&overruns) == ETIMEDOUT && (overruns == 2 || (!has_primary() && overruns > 2)));
	check((!pthread_wait_np(&overruns) && is_primary()) || !has_primary());
	printf("ok periods\n");
	return nothing;
}

static cobalt_event_t event;

static void *posts(void *nothing)
{
	struct timespec moment = { 0, 1000000 };

	nanosleep(&moment, NULL);
	check(!cobalt_event_post(&event, 6));
	return nothing;
}

static void *events(void *nothing)
{
	struct timespec now = { 0, 0 };
	unsigned int bits;
	pthread_t thread;

	check(!cobalt_event_init(&event, 1, COBALT_EVENT_PRIO));
	check(cobalt_event_wait(&event, 2, &bits, COBALT_EVENT_ALL, &now) == -EAGAIN);
	thread = start(0, posts, NULL);
	check(!cobalt_event_wait(&event, 7, &bits, COBALT_EVENT_ALL, NULL) && bits == 7);
	check(cobalt_event_clear(&event, 3) == 7 && !cobalt_event_wait(&event, 7, &bits, COBALT_EVENT_ANY, NULL) && bits == 4);
	pthread_join(thread, NULL);
	check(!cobalt_event_destroy(&event));
	printf("ok events\n");
	return nothing;
}

int main(int argc, char *const *argv)
{
	static void *(*const tests[])(void *) = { conditions, mutexes, modes, periods, events };
	unsigned int i;

	xenomai_init(&argc, &argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	buffer(60);
	buffer(40);
	buffer(0);
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		pthread_join(start(50, tests[i], NULL), NULL);
	printf("cobalt: good\n");
	return 0;
}
