// SPDX-License-Identifier: GPL-2.0-only
/* Semaphores, mutexes, conditions, events, alarms. */
#include <alchemy/alarm.h>
#include <alchemy/cond.h>
#include <alchemy/event.h>
#include <alchemy/mutex.h>
#include <alchemy/sem.h>
#include <alchemy/task.h>

#include "../check.h"

static RT_SEM sem;
static RT_MUTEX mutex;
static RT_COND cond;
static RT_EVENT event;
static int order[4], count;

static void takes(void *number)
{
	int result = rt_sem_p(&sem, TM_INFINITE);

	check(!result || result == -EIDRM);
	if (!result)
		order[count++] = (int)(long)number;
	else
		count += 10;
}

static void sems(void *nothing)
{
	RT_TASK tasks[3];
	RT_SEM_INFO info;
	RT_SEM bound;
	int i;

	(void)nothing;
	check(!rt_sem_create(&sem, "sem", 1, S_PRIO) && rt_sem_create(&bound, "sem", 1, S_PRIO) == -EEXIST);
	check(!rt_sem_bind(&bound, "sem", TM_NONBLOCK) && !rt_sem_p(&bound, TM_INFINITE));
	check(rt_sem_p(&sem, TM_NONBLOCK) == -EWOULDBLOCK && rt_sem_p(&sem, MS) == -ETIMEDOUT);
	check(rt_sem_p_until(&sem, rt_timer_read() + MS) == -ETIMEDOUT);
	for (i = 0; i < 3; i++)
		check(!rt_task_spawn(&tasks[i], NULL, 0, 20 + i, T_JOINABLE, takes, (void *)(long)i));
	do
		check(!rt_task_sleep(MS) && !rt_sem_inquire(&sem, &info));
	while (info.nwaiters != 3);
	check(info.count == 0 && !strcmp(info.name, "sem"));
	/* The most urgent first, and all have one before any runs. */
	check(!rt_sem_v(&sem) && !rt_sem_v(&sem) && rt_sem_p(&sem, TM_NONBLOCK) == -EWOULDBLOCK);
	rt_task_join(&tasks[2]);
	rt_task_join(&tasks[1]);
	check(!rt_sem_delete(&sem));
	rt_task_join(&tasks[0]);
	check(count == 12 && rt_sem_v(&sem) == -EINVAL && rt_sem_p(&bound, TM_NONBLOCK) == -EINVAL);
	check(!rt_sem_create(&sem, NULL, 0, S_FIFO) && !rt_sem_broadcast(&sem) && !rt_sem_delete(&sem));
	printf("ok semaphores\n");
}

static volatile int has_lock, wants_lock;

static void holds(void *nothing)
{
	(void)nothing;
	check(!rt_mutex_acquire(&mutex, TM_INFINITE) && !rt_mutex_acquire(&mutex, TM_INFINITE));
	has_lock = 1;
	while (!wants_lock)
		rt_task_sleep(MS / 2);
	check(!rt_mutex_release(&mutex));
	has_lock = 0;
	check(!rt_mutex_release(&mutex) && rt_mutex_release(&mutex) == -EPERM);
}

static void keeps(void *nothing)
{
	(void)nothing;
	check(!rt_mutex_acquire(&mutex, TM_INFINITE));
}

static void mutexes(void *nothing)
{
	RT_MUTEX_INFO info;
	RT_TASK holder;

	(void)nothing;
	check(!rt_mutex_create(&mutex, "mutex") && !rt_task_spawn(&holder, "holder", 0, 30, T_JOINABLE, holds, NULL));
	while (!has_lock)
		rt_task_sleep(MS);
	check(!rt_mutex_inquire(&mutex, &info) && rt_task_same(&info.owner, &holder) && !strcmp(info.name, "mutex"));
	check(rt_mutex_acquire(&mutex, TM_NONBLOCK) == -EWOULDBLOCK && rt_mutex_acquire(&mutex, MS) == -ETIMEDOUT);
	check(rt_mutex_release(&mutex) == -EPERM);
	wants_lock = 1;
	check(!rt_mutex_acquire(&mutex, TM_INFINITE) && !has_lock && !rt_mutex_release(&mutex));
	rt_task_join(&holder);
	/* A task that ends gives up what it owns. */
	check(!rt_task_spawn(&holder, "keeper", 0, 70, T_JOINABLE, keeps, NULL) && !rt_task_join(&holder));
	check(!rt_mutex_acquire(&mutex, 10 * MS) && !rt_mutex_release(&mutex));
	check(!rt_mutex_inquire(&mutex, &info) && !info.owner.handle && !rt_mutex_delete(&mutex));
	printf("ok mutexes\n");
}

static int ready;

static volatile int has_begun;

static void awaits(void *nothing)
{
	(void)nothing;
	check(!rt_mutex_acquire(&mutex, TM_INFINITE));
	has_begun = 1;
	check(!rt_cond_wait(&cond, &mutex, TM_INFINITE) && !rt_mutex_release(&mutex));
}

static void tells(void *nothing)
{
	(void)nothing;
	check(!rt_mutex_acquire(&mutex, TM_INFINITE));
	ready = 1;
	check(!rt_cond_broadcast(&cond) && !rt_mutex_release(&mutex));
}

static void conditions(void *nothing)
{
	RT_TASK teller;

	(void)nothing;
	check(!rt_mutex_create(&mutex, NULL) && !rt_cond_create(&cond, "cond"));
	check(rt_cond_wait(&cond, &mutex, TM_INFINITE) == -EPERM && !rt_mutex_acquire(&mutex, TM_INFINITE));
	check(rt_cond_wait(&cond, &mutex, MS) == -ETIMEDOUT);
	/* It gives up a mutex that is locked twice, too, and has it twice again. */
	check(!rt_mutex_acquire(&mutex, TM_INFINITE) && rt_cond_wait(&cond, &mutex, MS) == -ETIMEDOUT);
	check(!rt_mutex_release(&mutex));
	check(!rt_task_spawn(&teller, NULL, 0, 60, T_JOINABLE, tells, NULL));
	while (!ready)
		check(!rt_cond_wait(&cond, &mutex, TM_INFINITE));
	check(!rt_mutex_release(&mutex) && !rt_task_join(&teller));
	/* It is not deleted while somebody waits for it. */
	check(!rt_task_spawn(&teller, NULL, 0, 60, T_JOINABLE, awaits, NULL));
	while (!has_begun)
		check(!rt_task_sleep(MS));
	check(!rt_mutex_acquire(&mutex, TM_INFINITE) && rt_cond_delete(&cond) == -EBUSY && !rt_cond_signal(&cond));
	check(!rt_mutex_release(&mutex) && !rt_task_join(&teller));
	check(!rt_cond_delete(&cond) && !rt_mutex_delete(&mutex) && rt_cond_signal(&cond) == -EINVAL);
	printf("ok conditions\n");
}

static void signals_event(void *nothing)
{
	(void)nothing;
	rt_task_sleep(MS);
	check(!rt_event_signal(&event, 0x4));
	rt_task_sleep(MS);
	check(!rt_event_signal(&event, 0x2));
}

static void events(void *nothing)
{
	unsigned int mask;
	RT_TASK task;

	(void)nothing;
	check(!rt_event_create(&event, "event", 0x1, EV_PRIO));
	check(!rt_event_wait(&event, 0x3, &mask, EV_ANY, TM_NONBLOCK) && mask == 0x1);
	check(rt_event_wait(&event, 0x3, &mask, EV_ALL, TM_NONBLOCK) == -EWOULDBLOCK);
	check(rt_event_wait(&event, 0x6, &mask, EV_ANY, MS) == -ETIMEDOUT);
	check(!rt_task_spawn(&task, NULL, 0, 40, T_JOINABLE, signals_event, NULL));
	check(!rt_event_wait(&event, 0x6, &mask, EV_ANY, TM_INFINITE) && mask == 0x4);
	check(!rt_event_wait(&event, 0x6, &mask, EV_ALL, TM_INFINITE) && mask == 0x6 && !rt_task_join(&task));
	check(!rt_event_clear(&event, 0x5, &mask) && mask == 0x7);
	check(!rt_event_wait(&event, 0, &mask, EV_ALL, TM_INFINITE) && mask == 0x2 && !rt_event_delete(&event));
	printf("ok events\n");
}

static volatile int alarms;

static void rings(void *bell)
{
	alarms++;
	check(!rt_sem_v(bell));
}

static void with_alarms(void *nothing)
{
	RT_ALARM_INFO info;
	RT_ALARM alarm;
	RT_SEM bell;
	RTIME begin = rt_timer_read();
	int i;

	(void)nothing;
	check(!rt_sem_create(&bell, NULL, 0, S_FIFO) && !rt_alarm_create(&alarm, "alarm", rings, &bell));
	check(!rt_alarm_start(&alarm, 3 * MS, 2 * MS));
	for (i = 0; i < 5; i++)
		check(!rt_sem_p(&bell, TM_INFINITE));
	check(rt_timer_read() - begin >= 11 * MS && !rt_alarm_stop(&alarm) && !rt_alarm_inquire(&alarm, &info));
	check(info.expiries >= 5 && !strcmp(info.name, "alarm"));
	i = alarms;
	rt_task_sleep(5 * MS);
	check(alarms == i && !rt_alarm_delete(&alarm) && rt_alarm_stop(&alarm) == -EINVAL && !rt_sem_delete(&bell));
	printf("ok alarms\n");
}

int main(void)
{
	static void (*const tests[])(void *) = { sems, mutexes, conditions, events, with_alarms };
	RT_TASK task;
	unsigned int i;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		check(!rt_task_spawn(&task, "test", 0, 50, T_JOINABLE, tests[i], NULL) && !rt_task_join(&task));
	return 0;
}
