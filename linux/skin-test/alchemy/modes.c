// SPDX-License-Identifier: GPL-2.0-only
/* Modes, slices, processors; and of version 2 signals of tasks, alarms to wait for, the counter. */
#include <sched.h>
#include <stdbool.h>
#include <sys/cobalt.h>
#include <trank/native/alarm.h>
#include <trank/native/task.h>
#include <trank/native/timer.h>

#include "../check.h"

/* In Linux alone, a thread is never in primary mode. */
static bool is_primary(void)
{
	int status;

	check(cobalt_corectl(_CC_COBALT_GET_CORE_STATUS, &status, sizeof(status)) == sizeof(status));
	return status != COBALT_STATE_RUNNING || !(cobalt_thread_mode() & XNRELAX);
}

static void modes(void *nothing)
{
	RT_TASK_INFO info;
	int old = -1;

	(void)nothing;
	check(rt_task_set_mode(0, 0x100, &old) == -EINVAL && rt_task_set_mode(T_SUSP, 0, &old) == -EINVAL && old == -1);
	check(!rt_task_set_mode(0, T_LOCK, &old) && old == 0 && !rt_task_set_mode(0, T_WARNSW, &old) && old == T_LOCK);
	check(!rt_task_set_mode(T_LOCK, 0, &old) && old == (T_LOCK | T_WARNSW));
	/* What is both cleared and set is set. */
	check(!rt_task_set_mode(T_WARNSW, T_WARNSW, &old) && old == T_WARNSW);
	check(!rt_task_set_mode(T_WARNSW, 0, NULL) && !rt_task_set_mode(0, 0, &old) && old == 0);
	check(!rt_task_inquire(NULL, &info) && info.prio == 50);
	/* The way back from Linux. */
	cobalt_thread_relax();
	check(!rt_task_set_mode(0, T_CONFORMING, NULL) && is_primary());
	cobalt_thread_relax();
	check(!rt_task_set_mode(0, T_PRIMARY, &old) && is_primary());
	printf("ok modes\n");
}

static void slices(void *nothing)
{
	RT_TASK_INFO info;
	cpu_set_t cpus;
	RT_TASK none = { 0 };

	(void)nothing;
	check(!rt_task_slice(NULL, MS) && __STD(sched_getscheduler(0)) == SCHED_RR);
	check(!rt_task_slice(rt_task_self(), 0) && __STD(sched_getscheduler(0)) == SCHED_FIFO);
	check(!rt_task_inquire(NULL, &info) && info.prio == 50);
	check(rt_task_slice(&none, MS) == -EINVAL && rt_task_set_priority(&none, 10) == -EINVAL);
	check(rt_task_set_priority(NULL, 100) == -EINVAL && rt_task_set_priority(NULL, -1) == -EINVAL);
	CPU_ZERO(&cpus);
	check(rt_task_set_affinity(NULL, &cpus) == -EINVAL);
	CPU_SET(0, &cpus);
	check(!rt_task_set_affinity(NULL, &cpus) && !rt_task_set_affinity(rt_task_self(), &cpus));
	check(rt_task_set_affinity(&none, &cpus) == -EINVAL);
	printf("ok slices and processors\n");
}

static volatile sig_atomic_t signals;

static void counts(int signal)
{
	signals += signal == SIGUSR1;
}

static void notices(void *nothing)
{
	(void)nothing;
	check(signal(SIGUSR1, counts) != SIG_ERR && !rt_task_notify(rt_task_self(), SIGUSR1));
	while (!signals)
		rt_task_sleep(MS);
	check(rt_task_notify(rt_task_self(), 100) == -EINVAL);
	printf("ok signals\n");
}

static RT_ALARM alarm_clock;

static void awaits_end(void *result)
{
	*(int *)result = rt_alarm_wait(&alarm_clock);
}

static void alarms(void *nothing)
{
	RTIME begin = rt_timer_read();
	RT_ALARM none = { 0 };
	RT_ALARM_INFO info;
	RT_TASK_INFO task;
	RT_TASK waiter;
	int result = 1, i;

	(void)nothing;
	check(!rt_alarm_create(&alarm_clock, "clock") && rt_alarm_create(&none, "clock") == -EEXIST);
	check(rt_alarm_wait(&none) == -EINVAL && rt_alarm_start(&none, MS, MS) == -EINVAL);
	check(!rt_alarm_start(&alarm_clock, 3 * MS, 2 * MS));
	for (i = 0; i < 3; i++)
		check(!rt_alarm_wait(&alarm_clock));
	check(rt_timer_read() - begin >= 7 * MS && !rt_alarm_inquire(&alarm_clock, &info) && info.active);
	check(!rt_alarm_stop(&alarm_clock) && !rt_alarm_inquire(&alarm_clock, &info) && !info.active && info.expiries >= 3);
	/* Once; it is not started any more then. */
	begin = rt_timer_read();
	check(!rt_alarm_start(&alarm_clock, 2 * MS, TM_INFINITE) && !rt_alarm_wait(&alarm_clock));
	check(rt_timer_read() - begin >= 2 * MS && !rt_alarm_inquire(&alarm_clock, &info) && !info.active);
	/* A wait ends with its alarm. */
	check(!rt_task_spawn(&waiter, NULL, 0, 60, T_JOINABLE, awaits_end, &result));
	do
		check(!rt_task_sleep(MS / 2) && !rt_task_inquire(&waiter, &task));
	while (!(task.stat.status & XNPEND));
	check(!rt_alarm_delete(&alarm_clock) && !rt_task_join(&waiter) && result == -EIDRM);
	check(rt_alarm_wait(&alarm_clock) == -EINVAL && rt_alarm_delete(&alarm_clock) == -EINVAL);
	printf("ok alarms\n");
}

static void counter(void *nothing)
{
	RTIME begin = rt_timer_tsc(), end;

	(void)nothing;
	check(!rt_task_sleep(2 * MS));
	end = rt_timer_tsc();
	/* The counter and the clock may differ by a thousandth. */
	check(rt_timer_tsc2ns(end - begin) >= 2 * MS - 2 * MS / 1000);
	check(llabs(rt_timer_tsc2ns(rt_timer_ns2tsc(SECOND)) - SECOND) <= 1 && rt_timer_tsc2ns(-1000) <= 0);
	begin = rt_timer_read();
	rt_timer_spin(MS);
	check(rt_timer_read() - begin >= MS && rt_timer_ns2ticks(rt_timer_ticks2ns(-5)) == -5);
	check(!rt_timer_set_mode(TM_ONESHOT) && rt_timer_set_mode(MS) == -ENODEV);
	printf("ok counter\n");
}

int main(void)
{
	static void (*const tests[])(void *) = { modes, slices, notices, alarms, counter };
	cpu_set_t cpus;
	RT_TASK task;
	unsigned int i;
	int old;

	/* Not for a thread that is no task. */
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	check(rt_task_set_mode(0, T_LOCK, &old) == -EPERM && rt_task_slice(NULL, MS) == -EPERM);
	check(rt_task_set_affinity(NULL, &cpus) == -EPERM && rt_task_set_priority(NULL, 10) == -EPERM);
	check(rt_task_set_periodic(NULL, TM_NOW, MS) == -EPERM && rt_task_wait_period(NULL) == -EPERM);
	check(rt_task_yield() == -EPERM && rt_task_suspend(NULL) == -EPERM);
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		check(!rt_task_spawn(&task, "test", 0, 50, T_JOINABLE, tests[i], NULL) && !rt_task_join(&task));
	return 0;
}
