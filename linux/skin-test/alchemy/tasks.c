// SPDX-License-Identifier: GPL-2.0-only
/* Tasks: how they begin and end, periods, suspension, messages. */
#include <alchemy/sem.h>
#include <alchemy/task.h>
#include <alchemy/timer.h>

#include "../check.h"

static volatile int runs;
static RT_TASK worker;

static void counts(void *to)
{
	check(rt_task_self() && rt_task_same(rt_task_self(), &worker));
	runs = *(int *)to;
}

static void begin_and_end(void)
{
	int number = 7;
	RT_TASK bound, again;

	check(!rt_task_create(&worker, "worker", 0, 50, T_JOINABLE));
	check(rt_task_create(&again, "worker", 0, 50, 0) == -EEXIST && rt_task_create(&again, "x", 0, 100, 0) == -EINVAL);
	check(!rt_task_bind(&bound, "worker", TM_NONBLOCK) && rt_task_same(&bound, &worker));
	check(!runs && !rt_task_start(&worker, counts, &number) && !rt_task_join(&worker) && runs == 7);
	check(rt_task_bind(&bound, "worker", TM_NONBLOCK) == -EWOULDBLOCK && rt_task_suspend(&worker) == -EINVAL);
	printf("ok begin and end\n");
}

static unsigned long missed;
static int periods;

static void periodic(void *nothing)
{
	unsigned long overruns;
	RTIME begin = rt_timer_read(), end;
	int i;

	(void)nothing;
	check(!rt_task_set_periodic(NULL, TM_NOW, 2 * MS));
	for (i = 0; i < 20; i++) {
		int error = rt_task_wait_period(&overruns);

		check(!error || error == -ETIMEDOUT);
		missed += overruns;
		periods++;
	}
	end = rt_timer_read();
	check(end - begin >= 40 * MS);
	rt_timer_spin(7 * MS);
	check(rt_task_wait_period(&overruns) == -ETIMEDOUT && overruns >= 2);
	check(!rt_task_set_periodic(NULL, TM_NOW, TM_INFINITE) && rt_task_wait_period(NULL) == -EWOULDBLOCK);
	begin = rt_timer_read();
	check(!rt_task_sleep(3 * MS) && rt_timer_read() - begin >= 3 * MS);
	check(rt_task_sleep_until(begin) == -ETIMEDOUT && !rt_task_sleep_until(rt_timer_read() + MS));
}

static void with_periods(void)
{
	check(!rt_task_spawn(&worker, "periodic", 0, 60, T_JOINABLE, periodic, NULL) && !rt_task_join(&worker));
	check(periods == 20);
	printf("ok periods\n");
}

static volatile int turns;

static void turns_on(void *nothing)
{
	(void)nothing;
	for (;;) {
		turns++;
		rt_task_sleep(MS / 2);
	}
}

static void follow(void)
{
	int before = turns, i;

	for (i = 0; i < 1000 && turns == before; i++)
		rest(MS);
	check(turns != before);
}

static void suspended(void)
{
	RT_TASK_INFO info;
	int before;

	check(!rt_task_spawn(&worker, "turner", 0, 40, T_SUSP, turns_on, NULL));
	rest(5 * MS);
	check(!turns && !rt_task_resume(&worker));
	follow();
	check(!rt_task_suspend(&worker));
	rest(10 * MS);
	before = turns;
	rest(10 * MS);
	check(turns == before && !rt_task_resume(&worker));
	follow();
	check(!rt_task_set_priority(&worker, 45) && !rt_task_inquire(&worker, &info));
	check(info.prio == 45 && !strcmp(info.name, "turner") && info.pid > 0 && info.pid != getpid());
	check(!rt_task_delete(&worker) && rt_task_inquire(&worker, &info) == -EINVAL);
	before = turns;
	rest(3 * MS);
	check(turns == before);
	printf("ok suspension\n");
}

static void sleeps_long(void *result)
{
	*(int *)result = rt_task_sleep(3600 * (RTIME)SECOND);
}

static void unblocked(void)
{
	int result = 1;

	check(!rt_task_spawn(&worker, "sleeper", 0, 60, T_JOINABLE, sleeps_long, &result));
	rest(5 * MS);
	check(!rt_task_unblock(&worker) && !rt_task_join(&worker) && result == -EINTR);
	printf("ok unblocking\n");
}

static void serves(void *nothing)
{
	RT_TASK_MCB request, reply;
	char text[32], answer[40];
	int flow, i;

	(void)nothing;
	for (i = 0; i < 5; i++) {
		request.data = text;
		request.size = sizeof(text);
		flow = rt_task_receive(&request, TM_INFINITE);
		check(flow > 0 && request.opcode == 100 + i);
		reply.opcode = request.opcode + 1;
		reply.data = answer;
		reply.size = sprintf(answer, "to %s", text) + 1;
		check(!rt_task_reply(flow, &reply) && rt_task_reply(flow, &reply) == -ENXIO);
	}
	request.data = text;
	request.size = sizeof(text);
	check(rt_task_receive(&request, TM_NONBLOCK) == -EWOULDBLOCK && rt_task_receive(&request, MS) == -ETIMEDOUT);
}

static void asks(void *server)
{
	RT_TASK_MCB request, reply;
	char text[32], answer[40], expected[40];
	int i;

	for (i = 0; i < 5; i++) {
		request.opcode = 100 + i;
		request.data = text;
		request.size = sprintf(text, "request %d", i) + 1;
		reply.data = answer;
		reply.size = sizeof(answer);
		sprintf(expected, "to request %d", i);
		check(rt_task_send(server, &request, &reply, TM_INFINITE) == (int)strlen(expected) + 1);
		check(reply.opcode == 101 + i && !strcmp(answer, expected));
	}
}

static void messages(int client_priority)
{
	RT_TASK server, client;

	check(!rt_task_spawn(&server, "server", 0, 50, T_JOINABLE, serves, NULL));
	check(!rt_task_spawn(&client, "client", 0, client_priority, T_JOINABLE, asks, &server));
	check(!rt_task_join(&client) && !rt_task_join(&server));
	printf("ok messages %d\n", client_priority);
}

int main(void)
{
	RT_TASK self;
	RT_TIMER_INFO info;

	begin_and_end();
	with_periods();
	suspended();
	unblocked();
	messages(40);
	messages(60);
	check(rt_task_sleep(1) == -EPERM && !rt_task_shadow(&self, "main", 20, 0) && rt_task_same(&self, rt_task_self()));
	check(!rt_task_sleep(MS) && !rt_task_yield() && !rt_timer_inquire(&info) && info.period == 1);
	check(rt_timer_ns2ticks(rt_timer_ticks2ns(12345)) == 12345);
	printf("ok main task\n");
	return 0;
}
