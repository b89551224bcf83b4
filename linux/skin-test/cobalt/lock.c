// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that sends a signal of Linux's goes there for it, but not with the library's lock: a
 * more urgent one that needs the lock meanwhile stays in primary mode.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/cobalt.h>

#include "../check.h"

#define QUEUES 48
#define TURNS 200

static bool has_primary;
static volatile bool is_ready, is_over;
static mqd_t queues[QUEUES];

/* Takes the lock again and again. */
static void *needs_lock(void *nothing)
{
	rest(MS);
	while (!is_over) {
		check(cobalt_thread_probe(getpid()) == 0);
		check(!has_primary || cobalt_thread_mode() == 0);
		rest(MS / 16);
	}
	return nothing;
}

/* An ordinary thread, to which signals are Linux's, and which never takes them. */
static void *is_told(void *nothing)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	struct mq_attr size = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	char name[16];
	sigset_t all;
	int i;

	sigfillset(&all);
	check(!pthread_sigmask(SIG_SETMASK, &all, NULL));
	for (i = 0; i < QUEUES; i++) {
		/* With two slashes, it is this process's alone. */
		snprintf(name, sizeof(name), "/lock/%d", i);
		queues[i] = mq_open(name, O_RDWR | O_CREAT, 0600, &size);
		check(queues[i] >= 0 && !mq_notify(queues[i], &event));
	}
	is_ready = true;
	for (;;)
		pause();
	return nothing;
}

/* Each time, it is in primary mode when it takes the lock. */
static void *sends(void *nothing)
{
	pthread_t told = start(0, is_told, NULL), urgent;
	int i;

	while (!is_ready)
		rest(MS);
	urgent = start(60, needs_lock, NULL);
	rest(5 * MS);
	for (i = 0; i < QUEUES; i++) {
		check(!mq_send(queues[i], "message", 8, 0));
		rest(MS / 10);
	}
	printf("ok the lock, messages\n");
	rest(MS / 10);
	for (i = 0; i < TURNS; i++) {
		check(!pthread_kill(told, SIGSUSP));
		rest(MS / 10);
		check(!pthread_kill(told, SIGRESM));
		rest(MS / 10);
	}
	is_over = true;
	pthread_join(urgent, NULL);
	printf("ok the lock, suspensions\n");
	return nothing;
}

int main(void)
{
	int status;

	check(cobalt_corectl(_CC_COBALT_GET_CORE_STATUS, &status, sizeof(status)) == sizeof(status));
	has_primary = status == COBALT_STATE_RUNNING;
	pthread_join(start(50, sends, NULL), NULL);
	return 0;
}
