// SPDX-License-Identifier: GPL-2.0-only
/* Semaphores with names, between processes of a program for Xenomai 3. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/cobalt.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xenomai/init.h>

#include "../check.h"

#define TURNS 100

static int is_primary(void)
{
	int status;

	check(cobalt_corectl(_CC_COBALT_GET_CORE_STATUS, &status, sizeof(status)) == sizeof(status));
	return status != COBALT_STATE_RUNNING || cobalt_thread_mode() == 0;
}

/* The other process: the same program, executed with an argument. */
static void *answers(void *nothing)
{
	sem_t *there = sem_open("/xeno-there", 0), *back = sem_open("/xeno-back", 0);
	int i;

	check(there != SEM_FAILED && back != SEM_FAILED);
	for (i = 0; i < TURNS; i++) {
		check(!sem_wait(there));
		check(!sem_post(back));
	}
	check(is_primary());
	check(!sem_close(there) && !sem_close(back));
	return nothing;
}

static void *asks(void *program)
{
	sem_t *there = sem_open("/xeno-there", O_CREAT | O_EXCL, 0600, 0), *back = sem_open("/xeno-back", O_CREAT, 0600, 0);
	struct timespec end;
	int i, status, value;
	pid_t child;

	check(there != SEM_FAILED && back != SEM_FAILED);
	check(sem_open("/xeno-there", O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED && errno == EEXIST);
	check(sem_open("/xeno-there", 0) == there && !sem_close(there));
	check(sem_open("/xeno-none", 0) == SEM_FAILED && errno == ENOENT);
	check(sem_trywait(back) == -1 && errno == EAGAIN);
	end = soon(CLOCK_REALTIME, MS);
	check(sem_timedwait(back, &end) == -1 && errno == ETIMEDOUT);
	check(!sem_post(back) && !sem_getvalue(back, &value) && value == 1 && !sem_trywait(back));
	child = fork();
	if (!child) {
		execl(program, program, "answers", (char *)NULL);
		_exit(127);
	}
	for (i = 0; i < TURNS; i++) {
		check(!sem_post(there));
		end = soon(CLOCK_REALTIME, 20 * SECOND);
		check(!sem_timedwait(back, &end));
	}
	check(is_primary());
	check(waitpid(child, &status, 0) == child && !status);
	check(!sem_unlink("/xeno-there") && sem_unlink("/xeno-there") == -1 && errno == ENOENT);
	/* A semaphore outlives its close, but not the end of its name. */
	check(!sem_post(back) && !sem_close(there) && !sem_close(back));
	back = sem_open("/xeno-back", 0);
	check(back != SEM_FAILED && !sem_trywait(back) && sem_trywait(back) == -1 && errno == EAGAIN);
	check(!sem_close(back) && !sem_unlink("/xeno-back") && sem_open("/xeno-back", 0) == SEM_FAILED && errno == ENOENT);
	return NULL;
}

static void *waits(void *sem)
{
	sem_wait(sem);
	return NULL;
}

/* A thread that is cancelled while it waits takes nothing. */
static void *cancels(void *nothing)
{
	sem_t *sem = sem_open("/xeno-cancel", O_CREAT, 0600, 0);
	void *result;
	pthread_t thread;
	int value;

	check(sem != SEM_FAILED);
	thread = start(60, waits, sem);
	rest(20 * MS);
	check(!pthread_cancel(thread) && !pthread_join(thread, &result) && result == PTHREAD_CANCELED);
	check(!sem_post(sem) && !sem_getvalue(sem, &value) && value == 1);
	check(!sem_unlink("/xeno-cancel") && !sem_close(sem));
	return nothing;
}

int main(int argc, char *const *argv)
{
	xenomai_init(&argc, &argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "answers")) {
		pthread_join(start(50, answers, NULL), NULL);
		return 0;
	}
	pthread_join(start(50, asks, argv[0]), NULL);
	pthread_join(start(50, cancels, NULL), NULL);
	printf("ok semaphores with names\n");
	return 0;
}
