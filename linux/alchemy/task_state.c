// SPDX-License-Identifier: GPL-2.0-only
/* What is done with tasks while they run. */
#include <errno.h>
#include <string.h>
#include <sys/cobalt.h>

#include "primary/call.h"
#include "primary/lock.h"
#include "tasks.h"

int rt_task_suspend(RT_TASK *task)
{
	struct task *found = alchemy_task(task);

	if (!found)
		return task ? -EINVAL : -EPERM;
	/* One that is not started begins suspended. */
	if (found->is_started)
		primary_suspend(found->thread);
	else
		found->mode |= T_SUSP;
	return alchemy_leave(0);
}

int rt_task_resume(RT_TASK *task)
{
	struct task *found = alchemy_task(task);

	if (!found)
		return -EINVAL;
	if (found->is_started)
		primary_resume(found->thread);
	else
		found->mode &= ~T_SUSP;
	return alchemy_leave(0);
}

int rt_task_unblock(RT_TASK *task)
{
	struct task *found = alchemy_task(task);

	if (!found)
		return -EINVAL;
	if (found->is_started && !primary_unblock(found->thread) && found->awaited) {
		/* Others that wait for it are woken without a reason. */
		found->is_unblocked = true;
		__RT(pthread_cond_broadcast(found->awaited));
	}
	return alchemy_leave(0);
}

static int set_policy(RT_TASK *task, int policy, int priority)
{
	struct sched_param parameters = { .sched_priority = priority };
	struct task *found = alchemy_task(task);
	pthread_t pthread;
	int error;

	if (!found)
		return task ? -EINVAL : -EPERM;
	if (priority < T_LOPRIO || priority > T_HIPRIO)
		return alchemy_leave(-EINVAL);
	pthread = found->pthread;
	primary_unlock();
	error = -pthread_setschedparam(pthread, priority ? policy : SCHED_OTHER, &parameters);
	if (error)
		return error;
	found = alchemy_task(task);
	if (!found)
		return 0;
	found->priority = priority;
	primary_set_priority(found->thread, priority ? policy : SCHED_OTHER, priority);
	primary_unlock();
	if (found == alchemy_self() && priority)
		primary_enter();
	return 0;
}

int rt_task_set_priority(RT_TASK *task, int priority)
{
	return set_policy(task, SCHED_FIFO, priority);
}

/* All tasks have Linux's slice. */
int rt_task_slice(RT_TASK *task, RTIME quantum)
{
	struct task *found = alchemy_task(task);
	int priority;

	if (!found)
		return task ? -EINVAL : -EPERM;
	priority = found->priority;
	primary_unlock();
	return priority ? set_policy(task, quantum ? SCHED_RR : SCHED_FIFO, priority) : -EINVAL;
}

int rt_task_set_mode(int clear, int set, int *old)
{
	static const struct {
		int mode;
		int cobalt;
	} modes[] = { { T_LOCK, PTHREAD_LOCK_SCHED }, { T_WARNSW, PTHREAD_WARNSW } };
	int clear_cobalt = 0, set_cobalt = 0, old_cobalt, error;
	unsigned int i;

	if (!alchemy_self())
		return -EPERM;
	if ((clear | set) & ~(T_LOCK | T_WARNSW | T_CONFORMING))
		return -EINVAL;
	for (i = 0; i < 2; i++) {
		clear_cobalt |= clear & modes[i].mode ? modes[i].cobalt : 0;
		set_cobalt |= set & modes[i].mode ? modes[i].cobalt : 0;
	}
	error = -pthread_setmode_np(clear_cobalt, set_cobalt, &old_cobalt);
	if (error || !old)
		return error;
	*old = 0;
	for (i = 0; i < 2; i++)
		*old |= old_cobalt & modes[i].cobalt ? modes[i].mode : 0;
	return 0;
}

int rt_task_set_affinity(RT_TASK *task, const cpu_set_t *cpus)
{
	struct task *found = alchemy_task(task);
	pthread_t pthread;

	if (!found)
		return task ? -EINVAL : -EPERM;
	pthread = found->pthread;
	primary_unlock();
	return -pthread_setaffinity_np(pthread, sizeof(*cpus), cpus);
}

int rt_task_yield(void)
{
	return alchemy_self() ? -__RT(sched_yield()) : -EPERM;
}

int rt_task_inquire(RT_TASK *task, RT_TASK_INFO *info)
{
	struct task *found = alchemy_task(task);
	struct cobalt_threadstat stat;
	int error;

	if (!found)
		return task ? -EINVAL : -EPERM;
	memset(info, 0, sizeof(*info));
	info->prio = found->priority;
	info->pid = found->thread->tid;
	alchemy_tell_name(&found->object, info->name);
	primary_unlock();
	error = cobalt_thread_stat(info->pid, &stat);
	if (!error) {
		info->stat.status = stat.status;
		info->stat.xtime = stat.xtime;
		info->stat.msw = stat.msw;
		info->stat.csw = stat.csw;
		info->stat.xsc = stat.xsc;
		info->stat.pf = stat.pf;
	}
	return error;
}

int rt_task_set_periodic(RT_TASK *task, RTIME first, RTIME period)
{
	struct task *found = alchemy_task(task);

	if (!found)
		return task ? -EINVAL : -EPERM;
	/* An infinite period ends it, which is 0. */
	return alchemy_leave(primary_set_periodic(found->thread, CLOCK_COPPERPLATE, alchemy_ns(first), alchemy_ns(period)));
}

int rt_task_wait_period(unsigned long *overruns)
{
	long result = alchemy_self() ? primary_wait_period() : -EPERM;

	if (result < 0)
		return result;
	if (overruns)
		*overruns = result;
	return result ? -ETIMEDOUT : 0;
}

int rt_task_sleep_until(RTIME date)
{
	if (!alchemy_self())
		return -EPERM;
	if (alchemy_ns(date) <= primary_now(CLOCK_COPPERPLATE))
		return -ETIMEDOUT;
	return primary_sleep_until(CLOCK_COPPERPLATE, alchemy_ns(date));
}

int rt_task_sleep(RTIME delay)
{
	if (!alchemy_self())
		return -EPERM;
	if (!delay)
		return 0;
	return primary_sleep_until(CLOCK_COPPERPLATE, primary_later(CLOCK_COPPERPLATE, alchemy_ns(delay)));
}
