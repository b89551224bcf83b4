// SPDX-License-Identifier: GPL-2.0-only
/* Threads: how they begin and end, their names and periods. */
#include "thread.h"

#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/cobalt.h>

#include "internal.h"
#include "primary/lock.h"
#include "primary/print.h"
#include "primary/thread.h"
#include "primary/wait.h"

/* Longest name of a thread in Linux. */
#define LINUX_NAME 15

/* How a thread begins; its creator waits until it is known. */
struct start {
	void *(*run)(void *);
	void *argument;
	sem_t is_known;
};

int __real_sem_init(sem_t *sem, int is_shared, unsigned int value);
int __real_sem_wait(sem_t *sem);
int __real_sem_post(sem_t *sem);

static void *begin(void *argument)
{
	struct start start = *(struct start *)argument;
	struct primary_thread *self = primary_self();

	__real_sem_post(&((struct start *)argument)->is_known);
	cobalt_thread_has(self->policy, self->priority);
	return start.run(start.argument);
}

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	struct start start = { .run = run, .argument = argument };
	int error, state;

	/* This is no cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	__real_sem_init(&start.is_known, 0, 0);
	error = __real_pthread_create(thread, attributes, begin, &start);
	while (!error && __real_sem_wait(&start.is_known))
		;
	pthread_setcancelstate(state, NULL);
	return error;
}

int pthread_create_ex(pthread_t *thread, const pthread_attr_ex_t *attributes, void *(*run)(void *), void *argument)
{
	struct sched_param parameters;
	pthread_attr_t own;
	int policy, inherits, error;

	if (!attributes)
		return __cobalt_pthread_create(thread, NULL, run, argument);
	own = attributes->std;
	error = pthread_attr_getinheritsched(&own, &inherits);
	if (!error && inherits == PTHREAD_EXPLICIT_SCHED)
		error = cobalt_translate(attributes->nonstd.sched_policy, &attributes->nonstd.sched_param, &policy,
					 &parameters);
	if (!error && inherits == PTHREAD_EXPLICIT_SCHED)
		error = pthread_attr_setschedpolicy(&own, policy);
	if (!error && inherits == PTHREAD_EXPLICIT_SCHED)
		error = pthread_attr_setschedparam(&own, &parameters);
	return error ? error : __cobalt_pthread_create(thread, &own, run, argument);
}

/* Linux's own name of a thread is shorter. */
WRAP(int, pthread_setname_np, pthread_t pthread, const char *name)
{
	char shorter[LINUX_NAME + 1];
	struct primary_thread *thread;

	if (pthread_equal(pthread, pthread_self()))
		primary_self();
	primary_lock();
	thread = primary_find(pthread);
	if (thread)
		snprintf(thread->name, sizeof(thread->name), "%s", name);
	primary_unlock();
	snprintf(shorter, sizeof(shorter), "%s", name);
	return __real_pthread_setname_np(pthread, shorter);
}

int pthread_set_name_np(pthread_t thread, const char *name)
{
	return __cobalt_pthread_setname_np(thread, name);
}

int pthread_make_periodic_np(pthread_t pthread, struct timespec *start, struct timespec *period)
{
	int64_t first = start ? primary_ns(start) : 0, length = primary_ns(period);
	bool is_own = pthread_equal(pthread, pthread_self()), is_in_primary = false;
	struct primary_thread *thread;
	int error = ESRCH;

	if (first < 0 || length < 0)
		return EINVAL;
	if (is_own) {
		primary_self();
		is_in_primary = primary_is_there();
	}
	primary_lock();
	thread = primary_find(pthread);
	/* Its own period is one of primary mode; another that it was given ends. */
	if (thread)
		error = -primary_set_periodic(thread, CLOCK_REALTIME, first, is_in_primary ? 0 : length);
	primary_unlock();
	return is_in_primary ? -PRIMARY_CALL(PERIOD_SET, CLOCK_REALTIME, first, length, 0) : error;
}

/* A thread that another one has made periodic waits in the process's memory. */
int pthread_wait_np(unsigned long *overruns)
{
	long result;

	if (!primary_is_there() || primary_self()->period) {
		result = primary_wait_period();
	} else {
		result = primary_may_sleep();
		if (!result)
			result = PRIMARY_CALL(PERIOD_WAIT, 0, 0, 0, 0);
	}
	/* The thread is not periodic. */
	if (result == -EPERM)
		return EWOULDBLOCK;
	if (result < 0)
		return -result;
	if (overruns)
		*overruns = result;
	return result ? ETIMEDOUT : 0;
}

int cobalt_thread_mode(void)
{
	return primary_is_now() ? 0 : XNRELAX;
}

int cobalt_thread_harden(void)
{
	return primary_enter();
}

int cobalt_thread_relax(void)
{
	primary_leave();
	return 0;
}

int cobalt_thread_join(pthread_t thread)
{
	return -pthread_join(thread, NULL);
}

static struct primary_thread *known(pthread_t pthread)
{
	struct primary_thread *thread;

	primary_lock();
	thread = primary_find(pthread);
	primary_unlock();
	return thread;
}

pid_t cobalt_thread_pid(pthread_t pthread)
{
	struct primary_thread *thread = known(pthread);

	return thread ? thread->tid : -ESRCH;
}

int cobalt_thread_probe(pid_t pid)
{
	int error;

	primary_lock();
	error = primary_find_tid(pid) ? 0 : -ESRCH;
	primary_unlock();
	return error;
}
