/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs share: checks, of which the first that fails ends a program, and threads. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000L
#define MS 1000000L

#define check(condition) \
	do { \
		if (!(condition)) \
			check_failed(__FILE__, __LINE__, #condition); \
	} while (0)

static inline void check_failed(const char *file, int line, const char *what)
{
	int error = errno;

	/* This leads to Linux at once. */
	dprintf(STDERR_FILENO, "FAIL %s:%d: %s: errno %d\n", file, line, what, error);
	_exit(1);
}

static inline pthread_t start(int priority, void *(*run)(void *), void *argument)
{
	struct sched_param parameters = { .sched_priority = priority };
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, priority ? SCHED_FIFO : SCHED_OTHER);
	pthread_attr_setschedparam(&attributes, &parameters);
	check(!pthread_create(&thread, &attributes, run, argument));
	pthread_attr_destroy(&attributes);
	return thread;
}

static inline struct timespec soon(clockid_t clock, long ns)
{
	struct timespec time;

	check(!clock_gettime(clock, &time));
	time.tv_nsec += ns % SECOND;
	time.tv_sec += ns / SECOND + time.tv_nsec / SECOND;
	time.tv_nsec %= SECOND;
	return time;
}

static inline void rest(long ns)
{
	struct timespec length = { ns / SECOND, ns % SECOND };

	while (nanosleep(&length, &length))
		;
}

#endif
