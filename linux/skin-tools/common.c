// SPDX-License-Identifier: GPL-2.0-only
#include "common.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/cobalt.h>
#include <time.h>
#include <unistd.h>

static void say(const char *format, va_list arguments)
{
	fflush(stdout);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
}

void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	/* Threads may still run. */
	_exit(EXIT_FAILURE);
}

void warn(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

long number_of(const char *option, const char *text, long least, long most)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (end == text || *end || errno || number < least || number > most)
		fail("%s %s: it is not a number from %ld to %ld; give one", option, text, least, most);
	return number;
}

int cpu_of(const char *option, const char *text)
{
	int cpu = number_of(option, text, 0, CPU_SETSIZE - 1);
	cpu_set_t cpus;

	if (!sched_getaffinity(0, sizeof(cpus), &cpus) && !CPU_ISSET(cpu, &cpus))
		fail("%s %s: this program may not run on processor %d, or there is none; the first one is 0", option,
		     text, cpu);
	return cpu;
}

void need_primary(void)
{
	int state;

	/* The library has said why. */
	if (cobalt_corectl(_CC_COBALT_GET_CORE_STATUS, &state, sizeof(state)) != sizeof(state) ||
	    state != COBALT_STATE_RUNNING)
		fail("there is no primary mode for this program's threads; start a system with a section [dual], load "
		     "the module pillion, and be root or in the section's group");
}

pthread_t start(int priority, int cpu, void *(*run)(void *), void *argument)
{
	struct sched_param parameters = { .sched_priority = priority };
	pthread_attr_t attributes;
	pthread_t thread;
	cpu_set_t cpus;
	int error;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, priority ? SCHED_FIFO : SCHED_OTHER);
	pthread_attr_setschedparam(&attributes, &parameters);
	error = pthread_create(&thread, &attributes, run, argument);
	pthread_attr_destroy(&attributes);
	if (error)
		fail("a thread of priority %d on processor %d cannot be started: %s; be root, or raise RLIMIT_RTPRIO",
		     priority, cpu, strerror(error));
	return thread;
}

int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

struct clock_time clock_time(long seconds)
{
	struct clock_time time;

	snprintf(time.text, sizeof(time.text), "%.2d:%.2d:%.2d", (int)(seconds / 3600 % 100000),
		 (int)(seconds / 60 % 60), (int)(seconds % 60));
	return time;
}

volatile bool interrupted;

static void is_interrupted(int signal)
{
	(void)signal;
	interrupted = true;
}

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

static void set_interrupts(int how)
{
	sigset_t set;
	unsigned int i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&set, ends[i]);
	pthread_sigmask(how, &set, NULL);
}

void hold_interrupts(void)
{
	struct sigaction action = { .sa_handler = is_interrupted };
	unsigned int i;

	set_interrupts(SIG_BLOCK);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &action, NULL);
}

void take_interrupts(void)
{
	set_interrupts(SIG_UNBLOCK);
}
