// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Whether pinned memory stays: page faults of a thread in primary mode while its process forks,
 * children write what they share with it, and Linux compacts memory.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

#define PAGE 4096
#define PAGES 256
/* So many forks for one reading of other figures. */
#define FEWER 10

static char memory[PAGES * PAGE] __attribute__((aligned(PAGE)));
static volatile bool ends;
static int device;

/* Page faults that took this thread out of primary mode. */
static unsigned long long faults(void)
{
	return look(device, gettid()).left[PILLION_DUAL_LEFT_FAULT];
}

/* Writes all of its memory, over and over; at the end, a page that is absent, which must count. */
static void *writes(void *context)
{
	unsigned long long *count = context, before;
	volatile char *absent;
	unsigned int i;

	rest();
	before = faults();
	while (!ends) {
		for (i = 0; i < PAGES; i++)
			memory[i * PAGE]++;
		rest();
	}
	*count = faults() - before;
	munlockall();
	absent = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (absent == MAP_FAILED)
		die("mmap");
	rest();
	madvise((void *)absent, PAGE, MADV_DONTNEED);
	rest();
	*absent = 1;
	if (faults() == before + *count)
		printf("invalid a page fault was not counted\n");
	return NULL;
}

/* Forks a child that writes what the writer does, and has Linux compact memory. */
static void disturb(int compact)
{
	pid_t child = fork();
	unsigned int i;
	int status;

	if (!child) {
		for (i = 0; i < PAGES; i++)
			memory[i * PAGE]++;
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		die("child");
	if (write(compact, "1", 1) != 1)
		die("compaction");
}

static void measure_faults(const char *name)
{
	int compact = open("/proc/sys/vm/compact_memory", O_WRONLY | O_CLOEXEC);
	unsigned long long count = 0;
	pthread_t writer;
	unsigned int i;

	device = mark();
	if (compact < 0 || mlockall(MCL_CURRENT | MCL_FUTURE))
		die("memory");
	writer = begin_thread(URGENT, writes, &count);
	for (i = 0; i < rounds / FEWER; i++)
		disturb(compact);
	ends = true;
	pthread_join(writer, NULL);
	printf("figure %s %llu 1\n", name, count);
}

void measure_pins(void)
{
	in_process(measure_faults, "pinned_faults", 0);
}
