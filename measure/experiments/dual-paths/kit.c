// SPDX-License-Identifier: MIT OR Apache-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

unsigned int rounds = 2000;

/* The least reading of the figure that a process printed last. */
static unsigned long long *undisturbed;

void die(const char *what)
{
	printf("invalid %s: %s\n", what, strerror(errno));
	exit(1);
}

void begin_kit(void)
{
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	undisturbed = mmap(NULL, sizeof(*undisturbed), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (undisturbed == MAP_FAILED)
		die("mmap");
}

void add(struct readings *readings, unsigned long long value)
{
	if (!readings->count || value < readings->least)
		readings->least = value;
	if (value > readings->most)
		readings->most = value;
	readings->sum += value;
	readings->count++;
}

void print(const char *name, const struct readings *readings)
{
	if (!readings->count)
		return;
	*undisturbed = readings->least;
	printf("figure %s %llu ns\n", name, (readings->sum + readings->count - 1) / readings->count);
	printf("figure %s_min %llu ns\nfigure %s_max %llu ns\n", name, readings->least, name, readings->most);
}

void become_urgent(int priority)
{
	struct sched_param urgent = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO, &urgent) || mlockall(MCL_CURRENT | MCL_FUTURE))
		die("real-time priority");
}

int mark(void)
{
	struct pillion_dual_mark mark = { 0 };
	int device = open(PILLION_DUAL_DEVICE, O_RDWR | O_CLOEXEC);

	if (device < 0 || ioctl(device, PILLION_IOC_DUAL_MARK, &mark))
		die(PILLION_DUAL_DEVICE);
	return device;
}

struct pillion_dual_thread look(int device, pid_t thread)
{
	struct pillion_dual_look look = { .index = 0 };

	for (; !ioctl(device, PILLION_IOC_DUAL_LOOK, &look); look.index++) {
		if (look.thread.thread == (unsigned int)thread)
			return look.thread;
	}
	printf("invalid thread %d was never in primary mode\n", thread);
	exit(1);
}

void check_entries(int device, unsigned long long least, unsigned long long most)
{
	unsigned long long entries = look(device, gettid()).entries;

	if (entries < least || entries > most)
		printf("invalid %llu entries instead of %llu to %llu\n", entries, least, most);
}

unsigned long long in_process(void (*measure)(const char *), const char *name, int priority)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (!child) {
		if (priority)
			become_urgent(priority);
		measure(name);
		exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		printf("invalid %s: status %d\n", name, status);
	fflush(stdout);
	return *undisturbed;
}

pthread_t begin_thread(int priority, void *(*body)(void *), void *context)
{
	struct sched_param urgent = { .sched_priority = priority };
	pthread_attr_t attributes;
	pthread_t thread;

	if (pthread_attr_init(&attributes) || pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) ||
	    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO) ||
	    pthread_attr_setschedparam(&attributes, &urgent) || pthread_create(&thread, &attributes, body, context))
		die("thread");
	return thread;
}

pid_t load(void)
{
	pid_t child = fork();

	if (!child) {
		setpgid(0, 0);
		execlp("sh", "sh", "-c", "while :; do hackbench -g 1 -l 20 >/dev/null; done", NULL);
		_exit(1);
	}
	usleep(200000);
	return child;
}
