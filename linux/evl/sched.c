// SPDX-License-Identifier: GPL-2.0-only
/* Scheduling. Linux's policies are the ones that there are; a weak thread is one of these. */
#include <errno.h>
#include <evl/sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "primary/call.h"
#include "primary/lock.h"
#include "threads.h"

/* The policy and priority of Linux's that stand for these. */
static int translate(const struct evl_sched_attrs *attrs, int *policy, struct sched_param *parameters)
{
	*policy = attrs->sched_policy;
	parameters->sched_priority = attrs->sched_priority;
	switch (*policy) {
	case SCHED_WEAK:
		*policy = attrs->sched_priority ? SCHED_FIFO : SCHED_OTHER;
		return 0;
	case SCHED_OTHER:
	case SCHED_FIFO:
	case SCHED_RR:
		return 0;
	default:
		return -EINVAL;
	}
}

/* Gives a thread a policy. The lock is free meanwhile, since this leads to Linux. */
static int set(struct evl_thread *thread, int policy, const struct sched_param *parameters, bool unblocks)
{
	bool is_own = thread == evl_current;
	pid_t tid = thread->tid;
	int error;

	if (!thread->thread)
		return evl_leave(thread, -ESRCH);
	primary_unlock();
	/* Another thread may end meanwhile, so it has its number for a name. */
	if (is_own)
		error = -pthread_setschedparam(pthread_self(), policy, parameters);
	else
		error = syscall(SYS_sched_setscheduler, tid, policy, parameters) ? -errno : 0;
	primary_lock();
	if (error || !thread->thread)
		return evl_leave(thread, error ? error : -ESRCH);
	primary_set_priority(thread->thread, policy, parameters->sched_priority);
	if (unblocks)
		primary_unblock(thread->thread);
	evl_leave(thread, 0);
	/* Linux tells primary mode when the thread comes from there. */
	if (!is_own)
		evl_kick(tid);
	else if (evl_is_urgent(policy))
		primary_enter();
	return 0;
}

int evl_set_schedattr(int efd, const struct evl_sched_attrs *attrs)
{
	struct sched_param parameters = { 0 };
	struct evl_thread *thread;
	int policy, error = translate(attrs, &policy, &parameters);

	if (error)
		return error;
	thread = evl_enter_file(efd, &evl_threads);
	return thread ? set(thread, policy, &parameters, false) : -EBADF;
}

int evl_demote_thread(int efd)
{
	struct evl_thread *thread = evl_enter_file(efd, &evl_threads);

	return thread ? set(thread, SCHED_OTHER, &(struct sched_param){ 0 }, true) : -EBADF;
}

int evl_get_schedattr(int efd, struct evl_sched_attrs *attrs)
{
	struct evl_thread *thread = evl_enter_file(efd, &evl_threads);

	if (!thread)
		return -EBADF;
	if (!thread->thread)
		return evl_leave(thread, -ESRCH);
	memset(attrs, 0, sizeof(*attrs));
	attrs->sched_policy = thread->thread->policy == SCHED_OTHER ? SCHED_WEAK : thread->thread->policy;
	attrs->sched_priority = thread->thread->priority;
	return evl_leave(thread, 0);
}

int evl_yield(void)
{
	if (!evl_current)
		return -EPERM;
	return syscall(SYS_sched_yield) ? -errno : 0;
}

int evl_get_cpustate(int cpu, int *statep)
{
	if (cpu < 0 || cpu >= sysconf(_SC_NPROCESSORS_CONF))
		return -EINVAL;
	*statep = cpu < sysconf(_SC_NPROCESSORS_ONLN) ? EVL_CPU_OOB : EVL_CPU_OFFLINE;
	return 0;
}
