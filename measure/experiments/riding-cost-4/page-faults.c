/*
 * page-faults processes|threads NUMBER ROUNDS: so many processes, or threads of one process, each
 * on a processor of its own, map 1 MiB, touch each page, and unmap it, so many times.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 20, PAGE = 4096 };

static long rounds;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *work(void *processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((uintptr_t)processor, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		fail("sched_setaffinity");
	for (long round = 0; round < rounds; round++) {
		char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED || madvise(memory, SIZE, MADV_NOHUGEPAGE) != 0)
			fail("mmap");
		for (size_t at = 0; at < SIZE; at += PAGE)
			((volatile char *)memory)[at] = 1;
		if (munmap(memory, SIZE) != 0)
			fail("munmap");
	}
	return NULL;
}

int main(int count, char **arguments)
{
	long number = count > 2 ? atol(arguments[2]) : 0;
	int is_threads = count > 1 && strcmp(arguments[1], "threads") == 0;
	int failed = 0;

	if (count != 4 || number < 1 || number > 64) {
		fprintf(stderr, "page-faults processes|threads NUMBER ROUNDS\n");
		return 2;
	}
	rounds = atol(arguments[3]);
	if (is_threads) {
		pthread_t threads[64];

		for (long i = 0; i < number; i++)
			if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) != 0)
				fail("pthread_create");
		for (long i = 0; i < number; i++)
			pthread_join(threads[i], NULL);
		return 0;
	}
	for (long i = 0; i < number; i++) {
		pid_t child = fork();

		if (child < 0)
			fail("fork");
		if (child == 0) {
			work((void *)(uintptr_t)i);
			_exit(0);
		}
	}
	for (long i = 0; i < number; i++) {
		int status;

		if (wait(&status) < 0 || status != 0)
			failed = 1;
	}
	return failed;
}
