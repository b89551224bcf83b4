// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects that the processes of a session of Alchemy's share. The program starts itself again with
 * --session, and that one starts the second process, which binds what the first has made.
 */
#include <alchemy/cond.h>
#include <alchemy/event.h>
#include <alchemy/mutex.h>
#include <alchemy/sem.h>
#include <alchemy/task.h>
#include <stdbool.h>
#include <sys/cobalt.h>
#include <sys/wait.h>
#include <xenomai/tunables.h>

#include "../check.h"

#define TURNS 50
#define MS_TICKS 1000000
#define LONG_TIME (20 * SECOND)

static bool is_primary(void)
{
	return cobalt_thread_mode() == 0;
}

/* A third one: the first has the mutex, and so could not delete it. */
static void binds(void *nothing)
{
	RT_MUTEX mutex;

	(void)nothing;
	check(!rt_mutex_bind(&mutex, "mutex", TM_NONBLOCK) && rt_mutex_acquire(&mutex, TM_NONBLOCK) == -EWOULDBLOCK);
	_exit(0);
}

/* Starts the program as another process of the session. */
static pid_t starts(void *program, const char *role)
{
	pid_t child = fork();

	if (!child) {
		execl(program, program, "--session=robots", role, (char *)NULL);
		_exit(127);
	}
	return child;
}

/* The second process. */
static void answers(void *nothing)
{
	unsigned int found;
	RT_SEM there, back;
	RT_MUTEX mutex;
	RT_COND cond;
	RT_EVENT event;
	int i;

	(void)nothing;
	check(!rt_sem_bind(&there, "there", LONG_TIME) && !rt_sem_bind(&back, "back", TM_NONBLOCK));
	check(!rt_mutex_bind(&mutex, "mutex", LONG_TIME) && !rt_cond_bind(&cond, "cond", LONG_TIME));
	check(!rt_event_bind(&event, "event", LONG_TIME));
	for (i = 0; i < TURNS; i++)
		check(!rt_sem_p(&there, LONG_TIME) && !rt_sem_v(&back));
	check(is_primary());
	/* The first process waits for it, so it has given up the mutex. */
	check(!rt_sem_p(&there, LONG_TIME) && !rt_mutex_acquire(&mutex, LONG_TIME) && !rt_cond_signal(&cond));
	check(rt_mutex_acquire(&mutex, TM_NONBLOCK) == 0 && !rt_mutex_release(&mutex) && !rt_mutex_release(&mutex));
	check(rt_mutex_release(&mutex) == -EPERM);
	check(!rt_event_wait(&event, 0x6, &found, EV_ALL, LONG_TIME) && (found & 0x6) == 0x6);
	check(!rt_event_clear(&event, 0x2, &found) && (found & 0x7) == 0x7);
	check(!rt_event_signal(&event, 0x10) && is_primary());
	/* It ends with the mutex, which the first one gets. */
	check(!rt_mutex_acquire(&mutex, LONG_TIME));
	_exit(0);
}

static void asks(void *program)
{
	pid_t child;
	unsigned int found;
	RT_SEM there, back, again;
	RT_MUTEX mutex;
	RT_COND cond;
	RT_EVENT event;
	int i, status;

	check(rt_sem_bind(&there, "there", TM_NONBLOCK) == -EWOULDBLOCK);
	check(rt_sem_bind(&there, "there", 15 * MS_TICKS) == -ETIMEDOUT);
	child = starts(program, "answers");
	check(!rt_event_create(&event, "event", 0x1, EV_PRIO) && !rt_cond_create(&cond, "cond"));
	check(!rt_mutex_create(&mutex, "mutex") && !rt_sem_create(&back, "back", 0, S_PRIO));
	check(!rt_sem_create(&there, "there", 0, S_PRIO) && rt_sem_create(&again, "there", 0, S_PRIO) == -EEXIST);
	check(!rt_sem_bind(&again, "there", TM_NONBLOCK) && again.handle == there.handle);
	check(rt_sem_p(&back, TM_NONBLOCK) == -EWOULDBLOCK && rt_sem_p(&back, MS_TICKS) == -ETIMEDOUT);
	for (i = 0; i < TURNS; i++)
		check(!rt_sem_v(&there) && !rt_sem_p(&back, LONG_TIME));
	check(is_primary());
	check(!rt_mutex_acquire(&mutex, LONG_TIME) && !rt_sem_v(&there));
	check(!rt_cond_wait(&cond, &mutex, LONG_TIME) && !rt_mutex_release(&mutex));
	check(rt_event_wait(&event, 0x10, &found, EV_ANY, TM_NONBLOCK) == -EWOULDBLOCK);
	check(!rt_event_signal(&event, 0x6) && !rt_event_wait(&event, 0x30, &found, EV_ANY, LONG_TIME));
	check(!rt_event_wait(&event, 0, &found, EV_ANY, TM_NONBLOCK) && found == 0x15 && is_primary());
	check(waitpid(child, &status, 0) == child && !status);
	check(!rt_mutex_acquire(&mutex, LONG_TIME) && rt_mutex_delete(&mutex) == -EBUSY);
	child = starts(program, "binds");
	check(waitpid(child, &status, 0) == child && !status);
	check(!rt_mutex_release(&mutex) && !rt_mutex_delete(&mutex) && !rt_cond_delete(&cond));
	check(!rt_event_delete(&event) && !rt_sem_delete(&there) && !rt_sem_delete(&back));
	check(rt_sem_bind(&there, "there", TM_NONBLOCK) == -EWOULDBLOCK);
	printf("ok session\n");
}

int main(int argc, char *const *argv)
{
	void (*role)(void *program) = asks;
	int status;
	RT_TASK task;

	if (!strcmp(get_session_label(), "anon"))
		return execl(argv[0], argv[0], "--session=robots", (char *)NULL);
	check(cobalt_corectl(_CC_COBALT_GET_CORE_STATUS, &status, sizeof(status)) == sizeof(status));
	/* In Linux alone, a session shares nothing. */
	if (status != COBALT_STATE_RUNNING)
		return 0;
	if (argc > 1)
		role = !strcmp(argv[1], "binds") ? binds : answers;
	check(!rt_task_spawn(&task, NULL, 0, 50, T_JOINABLE, role, argv[0]));
	check(!rt_task_join(&task));
	return 0;
}
