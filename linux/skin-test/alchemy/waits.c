// SPDX-License-Identifier: GPL-2.0-only
/*
 * The three forms of each wait: for a time, until a time in ticks, and until a time with NULL and
 * zero as special values.
 */
#include <alchemy/buffer.h>
#include <alchemy/cond.h>
#include <alchemy/event.h>
#include <alchemy/heap.h>
#include <alchemy/mutex.h>
#include <alchemy/pipe.h>
#include <alchemy/queue.h>
#include <alchemy/sem.h>
#include <alchemy/task.h>
#include <alchemy/timer.h>
#include <limits.h>
#include <stdbool.h>

#include "../check.h"

enum form { FOR, UNTIL, AT, FORMS };

static RT_SEM sem;
static RT_MUTEX mutex;
static RT_COND cond;
static RT_EVENT event;
static RT_QUEUE queue;
static RT_BUFFER buffer, full;
static RT_HEAP heap;
static RT_PIPE pipe_to_linux;
static RT_TASK silent;
static RT_TASK_MCB message;
static char text[64];
static void *block;
static unsigned int mask;

/* A wait of one kind, in each of its forms. */
#define WAIT(name, function, ...)                                                       \
	static long name(enum form form, RTIME time, const struct timespec *end)        \
	{                                                                               \
		if (form == FOR)                                                        \
			return function(__VA_ARGS__, time);                             \
		if (form == UNTIL)                                                      \
			return function##_until(__VA_ARGS__, time);                     \
		return function##_timed(__VA_ARGS__, end);                              \
	}

WAIT(takes_sem, rt_sem_p, &sem)
WAIT(locks, rt_mutex_acquire, &mutex)
WAIT(awaits_cond, rt_cond_wait, &cond, &mutex)
WAIT(awaits_event, rt_event_wait, &event, 6, &mask, EV_ANY)
WAIT(receives_message, rt_queue_receive, &queue, &block)
WAIT(reads_queue, rt_queue_read, &queue, text, sizeof(text))
WAIT(reads_buffer, rt_buffer_read, &buffer, text, 4)
WAIT(writes_buffer, rt_buffer_write, &full, text, 4)
WAIT(reads_pipe, rt_pipe_read, &pipe_to_linux, text, sizeof(text))
WAIT(asks, rt_task_send, &silent, &message, NULL)
WAIT(hears, rt_task_receive, &message)

static long allocates(enum form form, RTIME time, const struct timespec *end)
{
	if (form == FOR)
		return rt_heap_alloc(&heap, 64, time, &block);
	if (form == UNTIL)
		return rt_heap_alloc_until(&heap, 64, time, &block);
	return rt_heap_alloc_timed(&heap, 64, end, &block);
}

typedef long (*wait_function)(enum form form, RTIME time, const struct timespec *end);

/* What a wait returns that has to end at once, and one that has to end in the past. */
static void at_once(wait_function wait, long nonblocking, long late)
{
	static const struct timespec zero = { 0, 0 }, past = { 0, 1 };

	check(wait(FOR, TM_NONBLOCK, NULL) == nonblocking && wait(UNTIL, TM_NONBLOCK, NULL) == nonblocking);
	check(wait(AT, 0, &zero) == nonblocking);
	check(wait(UNTIL, 1, NULL) == late && wait(AT, 0, &past) == late);
}

static void in_time(wait_function wait)
{
	struct timespec end;
	RTIME begin = rt_timer_read();

	check(wait(FOR, 2 * MS, NULL) == -ETIMEDOUT && rt_timer_read() - begin >= 2 * MS);
	begin = rt_timer_read();
	check(wait(UNTIL, begin + 2 * MS, NULL) == -ETIMEDOUT && rt_timer_read() - begin >= 2 * MS);
	begin = rt_timer_read();
	end = soon(CLOCK_COPPERPLATE, 2 * MS);
	check(wait(AT, 0, &end) == -ETIMEDOUT && rt_timer_read() - begin >= 2 * MS);
}

/* A wait without an end, or with one that never comes; it is ended by another task. */
struct endless {
	wait_function wait;
	enum form form;
	RTIME time;
	bool in_lock;
	volatile bool has_ended;
	long result;
};

static void waits_endlessly(void *argument)
{
	struct endless *endless = argument;

	if (endless->in_lock)
		check(!rt_mutex_acquire(&mutex, TM_INFINITE));
	endless->result = endless->wait(endless->form, endless->time, NULL);
	if (endless->in_lock)
		check(!rt_mutex_release(&mutex));
	endless->has_ended = true;
}

static void endlessly(wait_function wait)
{
	static const struct {
		enum form form;
		RTIME time;
	} ends[] = { { FOR, TM_INFINITE }, { UNTIL, TM_INFINITE }, { AT, 0 }, { FOR, LLONG_MAX }, { UNTIL, LLONG_MAX } };
	unsigned int i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct endless endless = { wait, ends[i].form, ends[i].time, wait == awaits_cond, false, 1 };
		RT_TASK waiter;

		check(!rt_task_spawn(&waiter, NULL, 0, 55, T_JOINABLE, waits_endlessly, &endless));
		check(!endless.has_ended);
		while (!endless.has_ended) {
			check(!rt_task_sleep(MS / 4));
			rt_task_unblock(&waiter);
		}
		check(!rt_task_join(&waiter) && endless.result == -EINTR);
	}
}

static void does_not_get(const char *name, wait_function wait)
{
	at_once(wait, -EWOULDBLOCK, -ETIMEDOUT);
	in_time(wait);
	endlessly(wait);
	printf("ok waits: %s\n", name);
}

static void sems(void *nothing)
{
	int i;

	(void)nothing;
	check(!rt_sem_create(&sem, "sem", 0, S_PRIO));
	does_not_get("semaphore", takes_sem);
	for (i = 0; i < 5; i++)
		check(!rt_sem_v(&sem));
	at_once(takes_sem, 0, 0);
	check(!rt_sem_unbind(&sem));
	at_once(takes_sem, -EINVAL, -EINVAL);
	check(!rt_sem_bind(&sem, "sem", TM_NONBLOCK) && !rt_sem_delete(&sem));
	at_once(takes_sem, -EINVAL, -EINVAL);
}

static volatile bool is_held, is_enough;

static void holds(void *nothing)
{
	(void)nothing;
	check(!rt_mutex_acquire(&mutex, TM_INFINITE));
	for (is_held = true; !is_enough;)
		check(!rt_task_sleep(MS / 2));
	check(!rt_mutex_release(&mutex));
}

/* Who waits for a mutex waits until it is free. */
static void mutexes(void *nothing)
{
	static const RTIME ends[] = { TM_INFINITE, LLONG_MAX };
	int form, i;
	RT_TASK holder;

	(void)nothing;
	check(!rt_mutex_create(&mutex, "mutex"));
	for (form = FOR; form < FORMS; form++)
		for (i = 0; i < 2; i++) {
			is_held = is_enough = false;
			check(!rt_task_spawn(&holder, NULL, 0, 60, T_JOINABLE, holds, NULL));
			while (!is_held)
				check(!rt_task_sleep(MS / 4));
			if (form == FOR && !i) {
				at_once(locks, -EWOULDBLOCK, -ETIMEDOUT);
				in_time(locks);
				check(rt_mutex_delete(&mutex) == -EBUSY);
			}
			is_enough = true;
			check(!locks(form, ends[i], NULL) && !rt_mutex_release(&mutex) && !rt_task_join(&holder));
		}
	/* It is free, and then the task's own already. */
	at_once(locks, 0, 0);
	for (i = 0; i < 5; i++)
		check(!rt_mutex_release(&mutex));
	check(rt_mutex_release(&mutex) == -EPERM && !rt_mutex_unbind(&mutex));
	at_once(locks, -EINVAL, -EINVAL);
	check(!rt_mutex_bind(&mutex, "mutex", TM_NONBLOCK) && !rt_mutex_delete(&mutex));
	printf("ok waits: mutex\n");
}

static void conditions(void *nothing)
{
	RT_COND_INFO info;

	(void)nothing;
	check(!rt_mutex_create(&mutex, NULL) && !rt_cond_create(&cond, "cond") && !rt_cond_inquire(&cond, &info));
	check(!strcmp(info.name, "cond"));
	at_once(awaits_cond, -EPERM, -EPERM);
	check(!rt_mutex_acquire(&mutex, TM_INFINITE));
	at_once(awaits_cond, -EWOULDBLOCK, -ETIMEDOUT);
	in_time(awaits_cond);
	check(!rt_mutex_release(&mutex));
	endlessly(awaits_cond);
	check(!rt_cond_unbind(&cond));
	at_once(awaits_cond, -EINVAL, -EINVAL);
	check(rt_cond_inquire(&cond, &info) == -EINVAL && !rt_cond_bind(&cond, "cond", TM_NONBLOCK));
	check(!rt_cond_delete(&cond) && !rt_mutex_delete(&mutex));
	printf("ok waits: condition\n");
}

static void events(void *nothing)
{
	RT_EVENT_INFO info;

	(void)nothing;
	check(!rt_event_create(&event, "event", 1, EV_PRIO));
	does_not_get("event", awaits_event);
	check(!rt_event_signal(&event, 4));
	at_once(awaits_event, 0, 0);
	check(mask == 4 && !rt_event_inquire(&event, &info) && info.value == 5 && !info.nwaiters);
	check(!strcmp(info.name, "event") && !rt_event_unbind(&event) && rt_event_inquire(&event, &info) == -EINVAL);
	at_once(awaits_event, -EINVAL, -EINVAL);
	check(!rt_event_bind(&event, "event", TM_NONBLOCK) && !rt_event_delete(&event));
}

static void queues(void *nothing)
{
	int i;

	(void)nothing;
	check(!rt_queue_create(&queue, "queue", 4096, Q_UNLIMITED, Q_FIFO));
	does_not_get("queue, receiving", receives_message);
	does_not_get("queue, reading", reads_queue);
	for (i = 0; i < 10; i++)
		check(!rt_queue_write(&queue, "12345", 5, Q_NORMAL));
	at_once(receives_message, 5, 5);
	at_once(reads_queue, 5, 5);
	check(!rt_queue_unbind(&queue));
	at_once(receives_message, -EINVAL, -EINVAL);
	at_once(reads_queue, -EINVAL, -EINVAL);
	check(!rt_queue_bind(&queue, "queue", TM_NONBLOCK) && !rt_queue_delete(&queue));
}

static void buffers(void *nothing)
{
	(void)nothing;
	check(!rt_buffer_create(&buffer, "buffer", 20, B_PRIO) && !rt_buffer_create(&full, "full", 20, B_PRIO));
	check(rt_buffer_write(&full, text, 20, TM_NONBLOCK) == 20);
	does_not_get("buffer, reading", reads_buffer);
	does_not_get("buffer, writing", writes_buffer);
	check(rt_buffer_write(&buffer, text, 20, TM_NONBLOCK) == 20 && !rt_buffer_clear(&full));
	at_once(reads_buffer, 4, 4);
	at_once(writes_buffer, 4, 4);
	check(!rt_buffer_unbind(&buffer) && !rt_buffer_unbind(&full));
	at_once(reads_buffer, -EINVAL, -EINVAL);
	at_once(writes_buffer, -EINVAL, -EINVAL);
	check(!rt_buffer_bind(&buffer, "buffer", TM_NONBLOCK) && !rt_buffer_bind(&full, "full", TM_NONBLOCK));
	check(!rt_buffer_delete(&buffer) && !rt_buffer_delete(&full));
}

static void heaps(void *nothing)
{
	void *most;

	(void)nothing;
	check(!rt_heap_create(&heap, "heap", 4096, H_PRIO) && !rt_heap_alloc(&heap, 4096, TM_NONBLOCK, &most));
	/* There may be a little more. */
	while (!rt_heap_alloc(&heap, 64, TM_NONBLOCK, &block))
		;
	does_not_get("heap", allocates);
	check(!rt_heap_free(&heap, most));
	at_once(allocates, 0, 0);
	check(!rt_heap_unbind(&heap));
	at_once(allocates, -EINVAL, -EINVAL);
	check(!rt_heap_bind(&heap, "heap", TM_NONBLOCK) && !rt_heap_delete(&heap));
}

static void pipes(void *nothing)
{
	(void)nothing;
	if (!access("/dev/rtp", F_OK)) {
		check(rt_pipe_create(&pipe_to_linux, "pipe", P_MINOR_AUTO, 0) >= 0);
		does_not_get("pipe", reads_pipe);
		check(!rt_pipe_unbind(&pipe_to_linux));
		at_once(reads_pipe, -EINVAL, -EINVAL);
		check(!rt_pipe_bind(&pipe_to_linux, "pipe", TM_NONBLOCK) && !rt_pipe_delete(&pipe_to_linux));
	}
	at_once(reads_pipe, -EINVAL, -EINVAL);
	check(rt_pipe_bind(&pipe_to_linux, "pipe", TM_NONBLOCK) == -EWOULDBLOCK);
}

static void says_nothing(void *nothing)
{
	(void)nothing;
	while (!is_enough)
		check(!rt_task_sleep(MS));
}

static void messages(void *nothing)
{
	(void)nothing;
	is_enough = false;
	check(!rt_task_spawn(&silent, "silent", 0, 40, T_JOINABLE, says_nothing, NULL));
	does_not_get("message, asking", asks);
	does_not_get("message, hearing", hears);
	is_enough = true;
	check(!rt_task_join(&silent));
	at_once(asks, -EINVAL, -EINVAL);
	check(!rt_task_unbind(&silent) && rt_task_suspend(&silent) == -EINVAL);
}

int main(void)
{
	static void (*const tests[])(void *) = { sems, mutexes, conditions, events, queues, buffers, heaps, pipes, messages };
	RT_TASK task;
	unsigned int i;

	/* Messages are for tasks only. */
	at_once(asks, -EPERM, -EPERM);
	at_once(hears, -EPERM, -EPERM);
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		check(!rt_task_spawn(&task, "test", 0, 50, T_JOINABLE, tests[i], NULL) && !rt_task_join(&task));
	return 0;
}
