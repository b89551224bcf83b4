// SPDX-License-Identifier: GPL-2.0-only
#include "thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call.h"
#include "lock.h"
#include "wait.h"

/* Carries a suspension to a thread that computes. */
#define SUSPENDS SIGWINCH

static struct link threads = LINK_INIT(threads);
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Threads that are suspended, and those that wait for a time. */
static struct primary_queue suspended = PRIMARY_QUEUE_INIT(suspended, false);
static struct primary_queue sleeping = PRIMARY_QUEUE_INIT(sleeping, false);

static __thread struct primary_thread own;
static __thread bool is_known;

/* However the thread ends, its mutexes go to those that wait for them, if anybody ever did. */
static void end(void *nothing)
{
	(void)nothing;
	primary_lock();
	link_remove(&own.link);
	is_known = false;
	primary_unlock();
	if (own.semaphore)
		PRIMARY_CALL(DESTROY, own.semaphore, 1, 0, 0);
	if (primary_is_there())
		PRIMARY_CALL(THREAD_ENDS, 0, 0, 0, 0);
}

/* Only the thread that forks is in the child. */
static void child(void)
{
	link_init(&threads);
	if (is_known) {
		own.tid = primary_tid();
		own.semaphore = 0;
		if (primary_is_there())
			primary_make(&own.semaphore, PILLION_DUAL_OBJECT_SEMAPHORE, 0, 0, NULL);
		link_before(&own.link, &threads);
	}
}

static void begin(void)
{
	pthread_key_create(&at_end, end);
	pthread_atfork(NULL, NULL, child);
}

static void introduce(void)
{
	struct sched_param parameters = { 0 };

	pthread_once(&once, begin);
	own = (struct primary_thread){ .pthread = pthread_self(), .tid = primary_tid() };
	own.policy = syscall(SYS_sched_getscheduler, 0) & ~SCHED_RESET_ON_FORK;
	syscall(SYS_sched_getparam, 0, &parameters);
	own.priority = parameters.sched_priority;
	prctl(PR_GET_NAME, own.name);
	if (primary_is_there())
		primary_make(&own.semaphore, PILLION_DUAL_OBJECT_SEMAPHORE, 0, 0, NULL);
	pthread_setspecific(at_end, &own);
	is_known = true;
}

struct primary_thread *primary_self(void)
{
	bool locks = !primary_is_locking();

	if (is_known)
		return &own;
	introduce();
	if (locks)
		primary_lock();
	link_before(&own.link, &threads);
	if (locks)
		primary_unlock();
	return &own;
}

bool primary_is_urgent(void)
{
	int policy = primary_self()->policy;

	return policy == SCHED_FIFO || policy == SCHED_RR;
}

struct primary_thread *primary_find(pthread_t pthread)
{
	for each_link(link, &threads) {
		struct primary_thread *thread = holder_of(link, struct primary_thread, link);

		if (pthread_equal(thread->pthread, pthread))
			return thread;
	}
	return NULL;
}

struct primary_thread *primary_find_tid(pid_t tid)
{
	for each_link(link, &threads) {
		struct primary_thread *thread = holder_of(link, struct primary_thread, link);

		if (thread->tid == tid)
			return thread;
	}
	return NULL;
}

void primary_each(void (*with)(struct primary_thread *thread, void *argument), void *argument)
{
	for each_link(link, &threads)
		with(holder_of(link, struct primary_thread, link), argument);
}

/* One that is in the middle of an operation stands still after that. */
static void is_suspended(int signal)
{
	int before = errno;

	(void)signal;
	if (!primary_is_locking())
		primary_stand_still();
	errno = before;
}

static void take_signal(void)
{
	struct sigaction action = { .sa_handler = is_suspended, .sa_flags = SA_RESTART };

	sigaction(SUSPENDS, &action, NULL);
}

static void send_suspension(const struct primary_errand *errand)
{
	static pthread_once_t taken = PTHREAD_ONCE_INIT;

	pthread_once(&taken, take_signal);
	syscall(SYS_tgkill, getpid(), errand->number, SUSPENDS);
}

void primary_suspend(struct primary_thread *thread)
{
	if (thread->suspensions++ || thread == &own || thread->wait)
		return;
	primary_afterwards(&(struct primary_errand){ .run = send_suspension, .number = thread->tid });
}

void primary_resume(struct primary_thread *thread)
{
	if (!thread->suspensions || --thread->suspensions)
		return;
	if (thread->wait && thread->wait->queue == &suspended && !thread->wait->has_ended)
		primary_wake(thread->wait, 0);
}

void primary_stand_still(void)
{
	struct primary_wait wait = { .is_forced = true };

	if (!is_known || !own.suspensions || own.wait)
		return;
	primary_lock();
	while (own.suspensions)
		primary_wait(&suspended, &wait, PRIMARY_FOREVER);
	primary_unlock();
}

bool primary_unblock(struct primary_thread *thread)
{
	struct primary_wait *wait = thread->wait;

	if (!wait || wait->queue == &suspended || wait->has_ended)
		return false;
	primary_wake(wait, -EINTR);
	return true;
}

int primary_sleep_until(clockid_t clock, int64_t ns)
{
	struct primary_wait wait = { 0 };
	int result;

	primary_lock();
	result = primary_wait(&sleeping, &wait, PRIMARY_UNTIL(clock, ns));
	primary_unlock();
	return result == -ETIMEDOUT ? 0 : result;
}

int primary_set_periodic(struct primary_thread *thread, clockid_t clock, int64_t first, int64_t period)
{
	int64_t now = primary_now(clock);

	if (now < 0 || first < 0 || period < 0)
		return -EINVAL;
	thread->clock = clock;
	thread->release = first ? first : primary_sum(now, period);
	thread->period = period;
	return 0;
}

long primary_wait_period(void)
{
	struct primary_thread *thread = primary_self();
	long missed;
	int error;

	if (!thread->period)
		return -EWOULDBLOCK;
	error = primary_sleep_until(thread->clock, thread->release);
	if (error)
		return error;
	missed = (primary_now(thread->clock) - thread->release) / thread->period;
	thread->release = primary_sum(thread->release, primary_times(thread->period, missed + 1));
	return missed;
}
