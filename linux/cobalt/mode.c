// SPDX-License-Identifier: GPL-2.0-only
/* Modes of threads, and what they did. */
#include <pillion_dual.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/cobalt.h>
#include <xenomai/version.h>

#include "debug.h"
#include "internal.h"
#include "primary/lock.h"
#include "primary/pipe.h"
#include "primary/thread.h"
#include "thread.h"

int __real_sched_setscheduler(pid_t pid, int policy, const struct sched_param *parameters);

/*
 * The other threads of the process do not run before this one as long as it is the most urgent. A
 * thread that is told of ways to Linux is not told of this one.
 */
static int set_locked(bool locks, bool warns)
{
	static __thread int policy, priority;
	struct primary_thread *self = primary_self();
	struct sched_param parameters = { .sched_priority = priority };
	int error;

	if (warns)
		primary_warn_thread(false);
	if (locks) {
		policy = self->policy;
		priority = self->priority;
		parameters.sched_priority = __cobalt_sched_get_priority_max(SCHED_FIFO);
	}
	/* Who asks for its policy is still told its own one. */
	error = __real_sched_setscheduler(0, locks ? SCHED_FIFO : policy, &parameters) ? errno : 0;
	if (warns)
		primary_warn_thread(true);
	if (!error)
		cobalt_thread_has(locks ? SCHED_FIFO : policy, parameters.sched_priority);
	return error;
}

int pthread_setmode_np(int clear, int set, int *old)
{
	const int known = PTHREAD_WARNSW | PTHREAD_LOCK_SCHED | PTHREAD_DISABLE_LOCKBREAK | PTHREAD_CONFORMING;
	int before = cobalt_modes, wanted = (before & ~clear) | set, error = 0;

	if ((clear | set) & ~known)
		return EINVAL;
	if ((wanted ^ before) & PTHREAD_WARNSW && primary_is_there())
		error = primary_warn_thread(wanted & PTHREAD_WARNSW);
	if (!error && (wanted ^ before) & PTHREAD_LOCK_SCHED)
		error = set_locked(wanted & PTHREAD_LOCK_SCHED, wanted & PTHREAD_WARNSW && primary_is_there());
	if (error)
		return error;
	cobalt_set_modes(wanted);
	if (cobalt_is_urgent(primary_self()->policy))
		primary_enter();
	if (old)
		*old = before;
	return 0;
}

int pthread_set_mode_np(int clear, int set)
{
	return pthread_setmode_np(clear, set, NULL);
}

int cobalt_thread_stat(pid_t pid, struct cobalt_threadstat *stat)
{
	struct pillion_dual_thread seen = { 0 };
	struct primary_thread *thread;
	unsigned int reason;

	if (!pid) {
		primary_self();
		pid = primary_tid();
	}
	memset(stat, 0, sizeof(*stat));
	primary_lock();
	thread = primary_find_tid(pid);
	if (thread) {
		stat->cprio = thread->priority;
		stat->status = XNMAPPED | XNUSER | (thread->wait ? XNPEND : 0) | (thread->suspensions ? XNSUSP : 0);
		strcpy(stat->name, thread->name);
		strcpy(stat->personality, "cobalt");
	}
	primary_unlock();
	if (!thread)
		return -ESRCH;
	if (primary_look(pid, &seen) || seen.mode != PILLION_DUAL_PRIMARY)
		stat->status |= XNRELAX;
	stat->xtime = seen.primary_ns;
	for (reason = 0; reason < PILLION_DUAL_LEFT_REASONS; reason++)
		stat->msw += seen.left[reason];
	stat->csw = seen.waits;
	stat->xsc = seen.answered;
	stat->pf = seen.left[PILLION_DUAL_LEFT_FAULT];
	return 0;
}

int cobalt_corectl(int request, void *buffer, size_t size)
{
	int value;

	switch (request) {
	case _CC_COBALT_GET_VERSION:
		value = XENO_VERSION_CODE;
		break;
	case _CC_COBALT_GET_NR_PIPES:
		value = PRIMARY_PIPES;
		break;
	case _CC_COBALT_GET_NR_TIMERS:
		value = COBALT_TIMERS;
		break;
	case _CC_COBALT_GET_POLICIES:
		value = _CC_COBALT_SCHED_WEAK;
		break;
	case _CC_COBALT_GET_DEBUG:
	case _CC_COBALT_GET_WATCHDOG:
	case _CC_COBALT_GET_NET_CONFIG:
		value = 0;
		break;
	case _CC_COBALT_GET_CORE_STATUS:
		value = primary_is_there() ? COBALT_STATE_RUNNING : COBALT_STATE_DISABLED;
		break;
	case _CC_COBALT_START_CORE:
	case _CC_COBALT_STOP_CORE:
		return -EPERM;
	default:
		return -EINVAL;
	}
	if (size < sizeof(value))
		return -EINVAL;
	memcpy(buffer, &value, sizeof(value));
	return sizeof(value);
}

void cobalt_assert_nrt(void)
{
	if (primary_is_now()) {
		fprintf(stderr, "xenomai: cobalt_assert_nrt: the thread is in primary mode; call this from secondary mode\n");
		abort();
	}
}
