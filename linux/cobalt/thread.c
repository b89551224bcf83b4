// SPDX-License-Identifier: GPL-2.0-only
/* Threads: what they leave behind, their modes and periods. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/cobalt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

struct start {
	void *(*run)(void *);
	void *argument;
};

static void end(void *nothing)
{
	(void)nothing;
	COBALT_CALL(THREAD_ENDS, 0, 0, 0, 0);
}

/* However the thread ends, its mutexes go to those that wait for them. */
static void *begin(void *allocated)
{
	struct start start = *(struct start *)allocated;
	void *result;

	free(allocated);
	pthread_cleanup_push(end, NULL);
	result = start.run(start.argument);
	pthread_cleanup_pop(1);
	return result;
}

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	struct start *start;
	int error;

	if (!cobalt_is_there())
		return __real_pthread_create(thread, attributes, run, argument);
	start = malloc(sizeof(*start));
	if (!start)
		return EAGAIN;
	start->run = run;
	start->argument = argument;
	error = __real_pthread_create(thread, attributes, begin, start);
	if (error)
		free(start);
	return error;
}

int cobalt_thread_mode(void)
{
	bool is_primary = cobalt_is_there() && !syscall(PILLION_DUAL_SERVICE_FIRST + PILLION_DUAL_SERVICE_NOTHING);

	return is_primary ? 0 : XNRELAX;
}

int cobalt_thread_harden(void)
{
	return cobalt_is_there() ? COBALT_CALL(NOTHING, 0, 0, 0, 0) : -ENOSYS;
}

int cobalt_thread_relax(void)
{
	/* Any call of Linux's. */
	syscall(SYS_getppid);
	return 0;
}

static __thread int modes;
static int warned;

/* The process is told of switches as long as one of its threads wants that. */
static int set_warned(bool wants)
{
	int now = __atomic_add_fetch(&warned, wants ? 1 : -1, __ATOMIC_SEQ_CST);

	return now == wants ? cobalt_warn(wants) : 0;
}

int pthread_setmode_np(int clear, int set, int *old)
{
	const int known = PTHREAD_WARNSW | PTHREAD_CONFORMING;
	int before = modes | (cobalt_thread_mode() ? 0 : PTHREAD_CONFORMING), error = 0;
	bool warns = (modes & PTHREAD_WARNSW & ~clear) | (set & PTHREAD_WARNSW);

	if ((clear | set) & ~known)
		return EINVAL;
	if (!cobalt_is_there())
		return ENOSYS;
	if (warns != !!(modes & PTHREAD_WARNSW)) {
		error = set_warned(warns);
		modes = warns ? PTHREAD_WARNSW : 0;
	}
	if (!error && set & PTHREAD_CONFORMING)
		error = -cobalt_thread_harden();
	else if (clear & PTHREAD_CONFORMING)
		cobalt_thread_relax();
	if (old)
		*old = before;
	return error;
}

int pthread_make_periodic_np(pthread_t thread, struct timespec *start, struct timespec *period)
{
	int64_t first = start ? cobalt_ns(start) : 0, length = cobalt_ns(period);

	if (!cobalt_is_there())
		return ENOSYS;
	if (!pthread_equal(thread, pthread_self()))
		return EPERM;
	if (first < 0 || length < 0)
		return EINVAL;
	return -COBALT_CALL(PERIOD_SET, CLOCK_REALTIME, first, length, 0);
}

int pthread_wait_np(unsigned long *overruns)
{
	long result = cobalt_is_there() ? COBALT_CALL(PERIOD_WAIT, 0, 0, 0, 0) : -ENOSYS;

	/* The thread is not periodic. */
	if (result == -EPERM)
		return EWOULDBLOCK;
	if (result < 0)
		return -result;
	if (overruns)
		*overruns = result;
	return result ? ETIMEDOUT : 0;
}
