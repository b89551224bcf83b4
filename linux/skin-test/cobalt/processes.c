// SPDX-License-Identifier: GPL-2.0-only
/*
 * What processes of programs for Xenomai 3 share: message queues by their names, mutexes and
 * conditions in memory. For the former, the program executes itself again as the other process.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/cobalt.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <xenomai/init.h>

#include "../check.h"

#define TURNS 100
#define SIGNAL (SIGRTMIN + 3)

static volatile sig_atomic_t switches;

static void is_told(int signal)
{
	(void)signal;
	switches++;
}

static bool has_primary(void)
{
	int status;

	check(cobalt_corectl(_CC_COBALT_GET_CORE_STATUS, &status, sizeof(status)) == sizeof(status));
	return status == COBALT_STATE_RUNNING;
}

static bool is_primary(void)
{
	return !has_primary() || cobalt_thread_mode() == 0;
}

static void send(mqd_t queue, int number)
{
	struct timespec end = soon(CLOCK_REALTIME, 20 * SECOND);

	check(!mq_timedsend(queue, (char *)&number, sizeof(number), 1, &end));
}

static int receive(mqd_t queue)
{
	struct timespec end = soon(CLOCK_REALTIME, 20 * SECOND);
	int number;

	check(mq_timedreceive(queue, (char *)&number, sizeof(number), NULL, &end) == sizeof(number));
	return number;
}

static mqd_t open_queue(const char *name, int flags)
{
	struct mq_attr attributes = { .mq_maxmsg = 4, .mq_msgsize = sizeof(int) };
	mqd_t queue = mq_open(name, flags, 0600, &attributes);

	check(queue >= 0);
	return queue;
}

static void *answers(void *nothing)
{
	mqd_t there = open_queue("/xeno-there", O_RDONLY), back = open_queue("/xeno-back", O_WRONLY);
	int i;

	/* What primary mode does not have is the other process's own. */
	check(mq_open("/xeno-large", O_RDWR) == -1 && errno == ENOENT);
	send(back, receive(there));
	check(!pthread_setmode_np(0, PTHREAD_WARNSW, NULL));
	switches = 0;
	for (i = 0; i < TURNS; i++)
		send(back, receive(there) + 1);
	check(!switches && is_primary() && !pthread_setmode_np(PTHREAD_WARNSW, 0, NULL));
	/* A message to be told of, and one for which `select` waits. */
	for (i = 0; i < 2; i++) {
		check(receive(there) == i);
		send(back, i);
	}
	check(!mq_unlink("/xeno-back") && mq_unlink("/xeno-back") == -1 && errno == ENOENT);
	check(!mq_close(there) && !mq_close(back));
	return nothing;
}

/* The thread takes the signal itself, as it would from its own process. */
static void is_notified(mqd_t there, mqd_t back)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGNAL, .sigev_value.sival_int = 7 };
	struct timespec most = { 20, 0 };
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGNAL);
	check(!mq_notify(back, &event) && mq_notify(back, &event) == -1 && errno == EBUSY);
	send(there, 0);
	check(sigtimedwait(&set, &info, &most) == SIGNAL && info.si_code == SI_MESGQ && info.si_value.sival_int == 7);
	check(receive(back) == 0);
	/* It was for once, and it can be taken back. */
	check(!mq_notify(back, &event) && !mq_notify(back, NULL));
}

/* Waits for a queue and for a timer, of which the queue comes first, then the timer. */
static void selects(mqd_t there, mqd_t back)
{
	int timer = timerfd_create(CLOCK_MONOTONIC, 0), most = (timer > back ? timer : back) + 1;
	struct itimerspec time = { .it_value = { 30, 0 } };
	struct timeval moment = { 0, 20000 };
	fd_set set;

	check(timer >= 0 && !timerfd_settime(timer, 0, &time, NULL));
	FD_ZERO(&set);
	FD_SET(timer, &set);
	FD_SET(back, &set);
	check(select(most, &set, NULL, NULL, &moment) == 0 && !FD_ISSET(back, &set) && !FD_ISSET(timer, &set));
	FD_SET(timer, &set);
	FD_SET(back, &set);
	send(there, 1);
	check(select(most, &set, NULL, NULL, NULL) == 1 && FD_ISSET(back, &set) && !FD_ISSET(timer, &set));
	time.it_value = (struct timespec){ 0, 1 };
	check(!timerfd_settime(timer, 0, &time, NULL));
	FD_SET(timer, &set);
	check(select(most, &set, NULL, NULL, NULL) == 2 && FD_ISSET(back, &set) && FD_ISSET(timer, &set));
	check(receive(back) == 1);
	FD_ZERO(&set);
	FD_SET(timer, &set);
	FD_SET(back, &set);
	check(select(most, &set, NULL, NULL, NULL) == 1 && !FD_ISSET(back, &set) && FD_ISSET(timer, &set));
	check(!close(timer));
}

static void *asks(void *program)
{
	struct mq_attr large = { .mq_maxmsg = 65, .mq_msgsize = 8 };
	mqd_t there = open_queue("/xeno-there", O_RDWR | O_CREAT | O_EXCL), back, own;
	int i, status;
	pid_t child;

	back = open_queue("/xeno-back", O_RDWR | O_CREAT);
	own = mq_open("/xeno-large", O_RDWR | O_CREAT | O_EXCL, 0600, &large);
	check(own >= 0 && mq_open("/xeno-large", O_RDWR | O_CREAT | O_EXCL, 0600, &large) == -1 && errno == EEXIST);
	check(mq_open("/xeno-there", O_RDWR | O_CREAT | O_EXCL, 0600, &large) == -1 && errno == EEXIST);
	child = fork();
	if (!child) {
		execl(program, program, "answers", (char *)NULL);
		_exit(127);
	}
	send(there, 0);
	check(receive(back) == 0);
	check(!pthread_setmode_np(0, PTHREAD_WARNSW, NULL));
	switches = 0;
	for (i = 0; i < TURNS; i++) {
		send(there, i);
		check(receive(back) == i + 1);
	}
	check(!switches && is_primary() && !pthread_setmode_np(PTHREAD_WARNSW, 0, NULL));
	is_notified(there, back);
	selects(there, back);
	check(waitpid(child, &status, 0) == child && !status);
	check(mq_open("/xeno-back", O_RDWR) == -1 && errno == ENOENT && !mq_unlink("/xeno-there"));
	/* What has no name any more lives until it is closed. */
	send(back, 1);
	check(receive(back) == 1 && !mq_close(there) && !mq_close(back) && !mq_close(own) && !mq_unlink("/xeno-large"));
	return NULL;
}

/* In memory of both. */
struct shared {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int turn;
};

static void take_turns(struct shared *shared, int own)
{
	int i;

	check(!pthread_mutex_lock(&shared->mutex));
	for (i = 0; i < TURNS; i++) {
		while (shared->turn % 2 != own)
			check(!pthread_cond_wait(&shared->cond, &shared->mutex));
		shared->turn++;
		check(!pthread_cond_signal(&shared->cond));
	}
	check(!pthread_mutex_unlock(&shared->mutex));
}

/* Mutexes and conditions that are for several processes. A child ends with the mutex. */
static void *shares_memory(void *nothing)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutexattr_t attributes;
	pthread_condattr_t of_cond;
	int status;
	pid_t child;

	check(shared != MAP_FAILED);
	pthread_mutexattr_init(&attributes);
	check(!pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
	check(!pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT));
	check(!pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST));
	check(!pthread_mutex_init(&shared->mutex, &attributes));
	pthread_condattr_init(&of_cond);
	check(!pthread_condattr_setpshared(&of_cond, PTHREAD_PROCESS_SHARED));
	check(!pthread_cond_init(&shared->cond, &of_cond));
	child = fork();
	if (!child) {
		take_turns(shared, 1);
		check(!pthread_mutex_lock(&shared->mutex));
		_exit(0);
	}
	check(child > 0);
	take_turns(shared, 0);
	check(waitpid(child, &status, 0) == child && !status && shared->turn == 2 * TURNS);
	check(pthread_mutex_lock(&shared->mutex) == EOWNERDEAD && !pthread_mutex_consistent(&shared->mutex));
	check(!pthread_mutex_unlock(&shared->mutex));
	/* Not with a mutex of one process, where there is primary mode. */
	if (has_primary()) {
		check(!pthread_mutex_lock(&own) && pthread_cond_wait(&shared->cond, &own) == EINVAL);
		check(!pthread_mutex_unlock(&own) && !pthread_mutex_destroy(&own));
	}
	check(!pthread_cond_destroy(&shared->cond) && !pthread_mutex_destroy(&shared->mutex));
	check(!munmap(shared, sizeof(*shared)));
	return nothing;
}

int main(int argc, char *const *argv)
{
	xenomai_init(&argc, &argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	check(signal(SIGDEBUG, is_told) != SIG_ERR);
	if (argc > 1 && !strcmp(argv[1], "answers")) {
		pthread_join(start(50, answers, NULL), NULL);
		return 0;
	}
	pthread_join(start(50, asks, argv[0]), NULL);
	pthread_join(start(50, shares_memory, NULL), NULL);
	printf("ok several processes\n");
	return 0;
}
