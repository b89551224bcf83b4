// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program for Xenomai 3: what threads are told of by SIGDEBUG about mutexes and about the lock of
 * the scheduler, and what they are not told of.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/cobalt.h>
#include <sys/wait.h>
#include <xenomai/init.h>

#include "../check.h"

#define REASONS 10

static bool has_primary;
static volatile sig_atomic_t told[REASONS];

static void is_told(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	check(sigdebug_marked(info) && sigdebug_reason(info) < REASONS);
	told[sigdebug_reason(info)]++;
}

/* Whether there was one signal with a reason since it was last asked, and none with another one. */
static bool was_told(int reason)
{
	bool is_good = !reason || told[reason] == 1;
	int i;

	for (i = 0; i < REASONS; i++) {
		is_good = is_good && (i == reason || !told[i]);
		told[i] = 0;
	}
	return is_good;
}

static bool was_told_nothing(void)
{
	return was_told(SIGDEBUG_UNDEFINED);
}

/* What changes modes leads to Linux, and is told. */
static void set_modes(int clear, int set)
{
	check(!pthread_setmode_np(clear, set, NULL));
	memset((void *)told, 0, sizeof(told));
}

static bool is_primary(void)
{
	return !has_primary || cobalt_thread_mode() == 0;
}

static pthread_mutex_t mutex, other;
static pthread_cond_t cond;
static sem_t sem, shared, is_owned;
static struct mq_attr size = { .mq_maxmsg = 1, .mq_msgsize = 8 };

static void make(pthread_mutex_t *made, int type)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	check(!pthread_mutex_init(made, &attributes));
	pthread_mutexattr_destroy(&attributes);
}

/* Owns a mutex for a moment, for others to wait. */
static void *owns(void *nothing)
{
	check(!pthread_mutex_lock(&mutex) && !sem_post(&is_owned));
	rest(10 * MS);
	check(!pthread_mutex_unlock(&mutex));
	return nothing;
}

/* The calling thread waits for the mutex that another one owns, and gets it. */
static void waits_for_mutex(void)
{
	pthread_t owner = start(20, owns, NULL);

	/* That is another wait, of which there may be a word. */
	while (sem_trywait(&is_owned))
		rest(MS);
	memset((void *)told, 0, sizeof(told));
	check(!pthread_mutex_lock(&mutex));
	pthread_join(owner, NULL);
}

static void *sleeps(void *nothing)
{
	mqd_t queue = mq_open("/warnings", O_RDWR | O_CREAT, 0600, &size);
	struct timespec end, moment = { 0, MS };
	sem_t *named = sem_open("/warnings", O_CREAT, 0600, 0);
	char text[8];

	check(queue >= 0 && named != SEM_FAILED);
	set_modes(0, PTHREAD_WARNSW);
	rest(MS);
	check(was_told_nothing() && is_primary());
	check(!pthread_mutex_lock(&other));
	rest(MS);
	check(was_told(SIGDEBUG_MUTEX_SLEEP) && is_primary());
	check(!clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL) && was_told(SIGDEBUG_MUTEX_SLEEP));
	/* What does not have to wait is no sleep. */
	check(!sem_post(&sem) && !sem_wait(&sem) && sem_trywait(&sem) == -1 && was_told_nothing());
	end = soon(CLOCK_REALTIME, MS);
	check(sem_timedwait(&sem, &end) == -1 && errno == ETIMEDOUT && was_told(SIGDEBUG_MUTEX_SLEEP));
	check(!sem_post(&shared) && !sem_wait(&shared) && sem_trywait(&shared) == -1 && was_told_nothing());
	end = soon(CLOCK_REALTIME, MS);
	check(sem_timedwait(&shared, &end) == -1 && errno == ETIMEDOUT);
	/* That one is Linux's. */
	told[SIGDEBUG_MIGRATE_SYSCALL] = 0;
	check(was_told(SIGDEBUG_MUTEX_SLEEP) && (!cobalt_thread_harden() || !has_primary));
	check(!sem_post(named) && !sem_wait(named) && was_told_nothing());
	end = soon(CLOCK_REALTIME, MS);
	check(sem_timedwait(named, &end) == -1 && errno == ETIMEDOUT && was_told(SIGDEBUG_MUTEX_SLEEP));
	check(!mq_send(queue, "message", 8, 0) && mq_receive(queue, text, 8, NULL) == 8 && was_told_nothing());
	end = soon(CLOCK_REALTIME, MS);
	check(mq_timedreceive(queue, text, 8, NULL, &end) == -1 && errno == ETIMEDOUT && was_told(SIGDEBUG_MUTEX_SLEEP));
	/* Nor is a wait for a mutex one of those that are told. */
	set_modes(PTHREAD_WARNSW, 0);
	check(!sem_init(&is_owned, 0, 0));
	set_modes(0, PTHREAD_WARNSW);
	waits_for_mutex();
	told[SIGDEBUG_MIGRATE_SYSCALL] = 0;
	check(was_told_nothing() && !pthread_mutex_unlock(&mutex));
	check(!pthread_mutex_unlock(&other));
	rest(MS);
	check(was_told_nothing());
	/* The mutex that is given up for a condition does not count, but others do. */
	check(!pthread_mutex_lock(&mutex));
	end = soon(CLOCK_REALTIME, MS);
	check(pthread_cond_timedwait(&cond, &mutex, &end) == ETIMEDOUT && was_told_nothing());
	check(!pthread_mutex_lock(&other));
	end = soon(CLOCK_REALTIME, MS);
	check(pthread_cond_timedwait(&cond, &mutex, &end) == ETIMEDOUT && was_told(SIGDEBUG_MUTEX_SLEEP));
	check(!pthread_mutex_unlock(&mutex) && !pthread_mutex_unlock(&other));
	/* Who did not ask is told nothing. */
	set_modes(PTHREAD_WARNSW, 0);
	check(!pthread_mutex_lock(&mutex));
	rest(MS);
	check(was_told_nothing() && !pthread_mutex_unlock(&mutex));
	check(!mq_close(queue) && !mq_unlink("/warnings") && !sem_unlink("/warnings") && !sem_close(named));
	printf("ok sleeping with a mutex\n");
	return nothing;
}

/* One that is locked several times counts until it is unlocked as often. */
static void *sleeps_with_recursive(void *nothing)
{
	pthread_mutex_t recursive;
	struct timespec end;

	make(&recursive, PTHREAD_MUTEX_RECURSIVE);
	set_modes(0, PTHREAD_WARNSW);
	check(!pthread_mutex_lock(&recursive) && !pthread_mutex_trylock(&recursive));
	end = soon(CLOCK_REALTIME, MS);
	/* In Linux alone, it is not given up as a whole. */
	check(pthread_cond_timedwait(&cond, &recursive, &end) == ETIMEDOUT);
	check(was_told(has_primary ? SIGDEBUG_UNDEFINED : SIGDEBUG_MUTEX_SLEEP));
	check(!pthread_mutex_unlock(&recursive));
	rest(MS);
	check(was_told(SIGDEBUG_MUTEX_SLEEP));
	check(!pthread_mutex_unlock(&recursive));
	rest(MS);
	check(was_told_nothing());
	set_modes(PTHREAD_WARNSW, 0);
	check(!pthread_mutex_destroy(&recursive));
	return nothing;
}

static void *locks_scheduler(void *nothing)
{
	mqd_t queue = mq_open("/warnings", O_RDWR | O_CREAT, 0600, &size);
	struct timespec moment = { 0, MS }, left = { 0, 0 }, end;
	char text[8];

	check(queue >= 0 && !pthread_mutex_lock(&other));
	/* The lock is given up while the thread sleeps. */
	set_modes(0, PTHREAD_LOCK_SCHED);
	check(!nanosleep(&moment, NULL));
	check(!pthread_mutex_unlock(&other));
	set_modes(0, PTHREAD_WARNSW);
	check(!nanosleep(&moment, NULL) && was_told_nothing());
	/* It is not. */
	set_modes(0, PTHREAD_DISABLE_LOCKBREAK);
	check(nanosleep(&moment, &left) == -1 && errno == EINTR && left.tv_nsec == MS && was_told(SIGDEBUG_LOCK_BREAK));
	check(clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL) == EINTR && was_told(SIGDEBUG_LOCK_BREAK));
	check(sem_trywait(&sem) == -1 && errno == EAGAIN && was_told_nothing());
	check(sem_wait(&sem) == -1 && errno == EINTR && was_told(SIGDEBUG_LOCK_BREAK));
	check(!sem_post(&sem) && !sem_wait(&sem) && was_told_nothing());
	check(mq_receive(queue, text, 8, NULL) == -1 && errno == EINTR && was_told(SIGDEBUG_LOCK_BREAK));
	check(!mq_send(queue, "message", 8, 0) && was_told_nothing());
	check(mq_send(queue, "message", 8, 0) == -1 && errno == EINTR && was_told(SIGDEBUG_LOCK_BREAK));
	check(!pthread_mutex_lock(&mutex) && was_told_nothing());
	check(pthread_cond_wait(&cond, &mutex) == EINTR && was_told(SIGDEBUG_LOCK_BREAK));
	end = soon(CLOCK_REALTIME, SECOND);
	check(pthread_cond_timedwait(&cond, &mutex, &end) == EINTR && was_told(SIGDEBUG_LOCK_BREAK));
	/* It has the mutex still. */
	check(!pthread_mutex_unlock(&mutex) && pthread_mutex_trylock(&mutex) == 0 && !pthread_mutex_unlock(&mutex));
	/* Either mode alone does nothing. */
	set_modes(PTHREAD_LOCK_SCHED, 0);
	check(!nanosleep(&moment, NULL) && was_told_nothing());
	set_modes(PTHREAD_WARNSW, PTHREAD_LOCK_SCHED);
	check(nanosleep(&moment, NULL) == -1 && errno == EINTR && was_told_nothing());
	set_modes(PTHREAD_LOCK_SCHED | PTHREAD_DISABLE_LOCKBREAK, 0);
	check(!mq_close(queue) && !mq_unlink("/warnings"));
	printf("ok the scheduler's lock\n");
	return nothing;
}

/* A wait for a mutex is told, and goes on. */
static void *breaks_lock(void *nothing)
{
	pthread_t owner = start(20, owns, NULL);

	check(!sem_wait(&is_owned));
	set_modes(0, PTHREAD_WARNSW | PTHREAD_LOCK_SCHED | PTHREAD_DISABLE_LOCKBREAK);
	check(!pthread_mutex_lock(&mutex) && was_told(SIGDEBUG_LOCK_BREAK));
	check(!pthread_mutex_unlock(&mutex));
	set_modes(PTHREAD_WARNSW | PTHREAD_LOCK_SCHED | PTHREAD_DISABLE_LOCKBREAK, 0);
	pthread_join(owner, NULL);
	printf("ok a lock that is broken\n");
	return nothing;
}

/* Unlocks a mutex too often, once asking to be told, once not. */
static void *unlocks(void *is_weak)
{
	set_modes(0, PTHREAD_WARNSW);
	check(!pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex) && was_told_nothing());
	check(pthread_mutex_unlock(&mutex) == EPERM);
	check(was_told(is_weak ? SIGDEBUG_RESCNT_IMBALANCE : SIGDEBUG_UNDEFINED));
	set_modes(PTHREAD_WARNSW, 0);
	check(pthread_mutex_unlock(&mutex) == EPERM && was_told_nothing());
	return NULL;
}

/* A child is told nothing. */
static void *forks(void *nothing)
{
	pid_t child;
	int status;

	set_modes(0, PTHREAD_WARNSW);
	check(!pthread_mutex_lock(&mutex));
	child = fork();
	if (!child) {
		memset((void *)told, 0, sizeof(told));
		rest(MS);
		_exit(!was_told_nothing());
	}
	check(child > 0 && waitpid(child, &status, 0) == child && !status);
	check(!pthread_mutex_unlock(&mutex));
	set_modes(PTHREAD_WARNSW, 0);
	printf("ok a child\n");
	return nothing;
}

int main(int argc, char *const *argv)
{
	struct sigaction action = { .sa_sigaction = is_told, .sa_flags = SA_SIGINFO };
	static void *(*const tests[])(void *) = { sleeps, sleeps_with_recursive, locks_scheduler, breaks_lock, forks };
	unsigned int i;
	int status;

	xenomai_init(&argc, &argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	check(cobalt_corectl(_CC_COBALT_GET_CORE_STATUS, &status, sizeof(status)) == sizeof(status));
	has_primary = status == COBALT_STATE_RUNNING;
	check(!sigaction(SIGDEBUG, &action, NULL));
	make(&mutex, PTHREAD_MUTEX_ERRORCHECK);
	make(&other, PTHREAD_MUTEX_ERRORCHECK);
	check(!pthread_cond_init(&cond, NULL) && !sem_init(&sem, 0, 0) && !sem_init(&shared, 1, 0));
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		pthread_join(start(50, tests[i], NULL), NULL);
	pthread_join(start(50, unlocks, NULL), NULL);
	pthread_join(start(0, unlocks, &mutex), NULL);
	printf("warnings: good\n");
	return 0;
}
