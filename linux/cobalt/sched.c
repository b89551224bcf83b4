// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scheduling. Linux's policies are the ones that there are: Cobalt's own one is FIFO, threads that
 * are weak are ordinary ones or FIFO by their priority; sporadic servers, partitions and quotas are
 * refused.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/cobalt.h>

#include "internal.h"
#include "primary/lock.h"
#include "primary/print.h"
#include "primary/thread.h"
#include "thread.h"

#define HIGHEST 99

int cobalt_translate(int policy, const struct sched_param_ex *parameters, int *linux_policy,
		     struct sched_param *linux_parameters)
{
	int priority = parameters->sched_priority;

	switch (policy) {
	case SCHED_COBALT:
		policy = priority ? SCHED_FIFO : SCHED_OTHER;
		priority = priority > HIGHEST ? HIGHEST : priority;
		break;
	case SCHED_WEAK:
		policy = priority ? SCHED_FIFO : SCHED_OTHER;
		break;
	case SCHED_SPORADIC:
	case SCHED_TP:
	case SCHED_QUOTA:
		return EINVAL;
	}
	*linux_policy = policy;
	linux_parameters->sched_priority = priority;
	return 0;
}

void cobalt_thread_has(int policy, int priority)
{
	struct primary_thread *self = primary_self();

	primary_lock();
	primary_set_priority(self, policy, priority);
	primary_unlock();
	if (!cobalt_is_urgent(policy))
		return;
	/* A thread in primary mode cannot make the one that prints for it. */
	primary_print_begin();
	primary_enter();
}

/* Another thread got a policy, or this one. */
static void note(pthread_t pthread, int policy, int priority)
{
	struct primary_thread *thread;

	if (pthread_equal(pthread, pthread_self())) {
		cobalt_thread_has(policy, priority);
		return;
	}
	primary_lock();
	thread = primary_find(pthread);
	if (thread)
		primary_set_priority(thread, policy, priority);
	primary_unlock();
}

int __real_pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *parameters);

int pthread_setschedparam_ex(pthread_t thread, int policy, const struct sched_param_ex *parameters)
{
	struct sched_param translated;
	int error = cobalt_translate(policy, parameters, &policy, &translated);

	if (!error)
		error = __real_pthread_setschedparam(thread, policy, &translated);
	if (!error)
		note(thread, policy, translated.sched_priority);
	return error;
}

WRAP(int, pthread_setschedparam, pthread_t thread, int policy, const struct sched_param *parameters)
{
	struct sched_param_ex extended = { .sched_priority = parameters->sched_priority };

	return pthread_setschedparam_ex(thread, policy, &extended);
}

WRAP(int, pthread_getschedparam, pthread_t thread, int *policy, struct sched_param *parameters)
{
	return __real_pthread_getschedparam(thread, policy, parameters);
}

int pthread_getschedparam_ex(pthread_t thread, int *policy, struct sched_param_ex *parameters)
{
	struct sched_param native;
	int error = __real_pthread_getschedparam(thread, policy, &native);

	memset(parameters, 0, sizeof(*parameters));
	parameters->sched_priority = native.sched_priority;
	return error;
}

WRAP(int, pthread_setschedprio, pthread_t thread, int priority)
{
	struct sched_param_ex parameters = { .sched_priority = priority };
	struct sched_param before;
	int policy, error = __real_pthread_getschedparam(thread, &policy, &before);

	return error ? error : pthread_setschedparam_ex(thread, policy, &parameters);
}

int __real_sched_setscheduler(pid_t pid, int policy, const struct sched_param *parameters);

/* The C library has to hear of it, too: it tells what it was told itself. */
static int set_own(int policy, const struct sched_param *parameters)
{
	int without_flag = policy & ~SCHED_RESET_ON_FORK;
	int error = __real_pthread_setschedparam(pthread_self(), without_flag, parameters);

	if (!error && policy != without_flag)
		error = __real_sched_setscheduler(0, policy, parameters) ? errno : 0;
	if (!error)
		cobalt_thread_has(without_flag, parameters->sched_priority);
	return error;
}

/* A process's thread has a number; 0 is the calling one. */
int sched_setscheduler_ex(pid_t pid, int policy, const struct sched_param_ex *parameters)
{
	struct sched_param translated;
	struct primary_thread *thread;
	int error = cobalt_translate(policy, parameters, &policy, &translated);

	if (error)
		return error;
	if (!pid || pid == (pid_t)primary_tid())
		return set_own(policy, &translated);
	if (__real_sched_setscheduler(pid, policy, &translated))
		return errno;
	policy &= ~SCHED_RESET_ON_FORK;
	primary_lock();
	thread = primary_find_tid(pid);
	if (thread)
		primary_set_priority(thread, policy, translated.sched_priority);
	primary_unlock();
	return 0;
}

WRAP(int, sched_setscheduler, pid_t pid, int policy, const struct sched_param *parameters)
{
	struct sched_param_ex extended = { .sched_priority = parameters->sched_priority };

	return cobalt_told(-sched_setscheduler_ex(pid, policy, &extended));
}

WRAP(int, sched_getscheduler, pid_t pid)
{
	return __real_sched_getscheduler(pid);
}

int sched_getscheduler_ex(pid_t pid, int *policy, struct sched_param_ex *parameters)
{
	struct sched_param native;
	int found = __real_sched_getscheduler(pid);

	if (found < 0 || sched_getparam(pid, &native))
		return errno;
	memset(parameters, 0, sizeof(*parameters));
	*policy = found & ~SCHED_RESET_ON_FORK;
	parameters->sched_priority = native.sched_priority;
	return 0;
}

static int limit(int policy, int (*of)(int))
{
	switch (policy) {
	case SCHED_WEAK:
		return of == __real_sched_get_priority_min ? 0 : HIGHEST;
	case SCHED_COBALT:
		return of(SCHED_FIFO);
	default:
		return of(policy);
	}
}

WRAP(int, sched_get_priority_min, int policy)
{
	return limit(policy, __real_sched_get_priority_min);
}

WRAP(int, sched_get_priority_max, int policy)
{
	return limit(policy, __real_sched_get_priority_max);
}

int sched_get_priority_min_ex(int policy)
{
	return __cobalt_sched_get_priority_min(policy);
}

int sched_get_priority_max_ex(int policy)
{
	return __cobalt_sched_get_priority_max(policy);
}

WRAP(int, sched_yield, void)
{
	return __real_sched_yield();
}

WRAP(int, pthread_yield, void)
{
	return __real_sched_yield();
}

int sched_setconfig_np(int cpu, int policy, const union sched_config *config, size_t size)
{
	(void)cpu;
	(void)policy;
	(void)config;
	(void)size;
	return EINVAL;
}

ssize_t sched_getconfig_np(int cpu, int policy, union sched_config *config, size_t size, size_t *needed)
{
	(void)cpu;
	(void)policy;
	(void)config;
	(void)size;
	(void)needed;
	return -EINVAL;
}

int cobalt_sched_weighted_prio(int policy, const struct sched_param_ex *parameters)
{
	struct sched_param translated;
	int error = cobalt_translate(policy, parameters, &policy, &translated);

	return error ? -error : translated.sched_priority;
}
