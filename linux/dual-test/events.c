// SPDX-License-Identifier: GPL-2.0-only
/* Eventfds that both sides read and write. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files.h"
#include "test.h"

/* x32's number for a call. Linux has such calls if it is booted with `syscall.x32=y`. */
#define X32 0x40000000

/* One that is made by x32's number for the call is what its flags say. */
void event_of_x32(void)
{
	long semaphore;

	enter();
	semaphore = CALL2(X32 + SYS_eventfd2, 2, EFD_SEMAPHORE);
	if (semaphore == -ENOSYS) {
		tell("Linux has no calls of x32");
		return;
	}
	to_primary();
	check(taken(semaphore) == 1 && taken(semaphore) == 1, "a semaphore");
}

/* Results are Linux's. */
void event_results(void)
{
	uint64_t value, *no_memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int count, semaphore, last;
	unsigned int i;

	enter();
	count = event(3, 0);
	semaphore = event(2, EFD_SEMAPHORE);
	last = event(0, EFD_NONBLOCK);
	for (i = 0; i < 2; i++) {
		to_primary();
		check(taken(count) == 3, "the first count");
		gives(count, 5);
		gives(count, 6);
		check(taken(count) == 11, "the sum");
		gives(count, 3);
		check(taken(semaphore) == 1 && taken(semaphore) == 1, "a semaphore");
		gives(semaphore, 2);
		check(take(last, &value) == -EAGAIN, "nothing to read");
		gives(last, UINT64_MAX - 1);
		check_mode(true);
		check(add(last, 1) == -EAGAIN, "no room");
		check_mode(false);
		to_primary();
		check(taken(last) == UINT64_MAX - 1, "the highest count");
		check_mode(true);
		check(add(last, UINT64_MAX) == -EINVAL, "a wrong count");
		check(call(SYS_read, last, (long)&value, 7, 0, 0, 0) == -EINVAL, "a short read");
		check(call(SYS_write, last, (long)&value, 7, 0, 0, 0) == -EINVAL, "a short write");
		check(call(SYS_write, last, 8, 8, 0, 0, 0) == -EFAULT, "a write from nowhere");
		/* Too late to give anything back, as in Linux; but not before it is known. */
		gives(count, 1);
		to_primary();
		check(take(count, no_memory) == -EFAULT, "a read to nowhere");
		gives(count, 3);
		value = taken(count);
		check(value == 3, "count %llu after a read to nowhere", (unsigned long long)value);
		gives(count, 3);
		check(take(1000, &value) == -EBADF, "no descriptor");
		/* Flags of a file can change at any time. */
		check(!fcntl(count, F_SETFL, O_NONBLOCK), "fcntl");
		to_primary();
		check(taken(count) == 3 && take(count, &value) == -EAGAIN, "a file that does not block any more");
		check_mode(true);
		check(!fcntl(count, F_SETFL, 0), "fcntl");
		gives(count, 3);
	}
	check_entries(2);
}

/* Bytes that the calling thread has read, as Linux counts them. */
static uint64_t bytes_read(void)
{
	char text[512] = "";
	int file = open("/proc/thread-self/io", O_RDONLY);
	unsigned long long bytes;

	check(file >= 0 && read(file, text, sizeof(text) - 1) > 0, "its io: %s", strerror(errno));
	close(file);
	check(sscanf(text, "rchar: %llu", &bytes) == 1, "its io is %s", text);
	return bytes;
}

/* A thread that enters primary mode by a read leaves it with a register, which is no result. */
void event_registers(void)
{
	uint64_t before, rax;
	int file;

	catch_faults();
	enter();
	file = timer(CLOCK_MONOTONIC, 0);
	before = bytes_read();
	arm(file, 0, MILLISECOND, 0);
	check(taken(file) == 1, "an expiry");
	check_mode(true);
	rax = rax_of_fault(0x123456789abcdef0);
	check(rax == 0x123456789abcdef0, "rax is %#llx", (unsigned long long)rax);
	before = bytes_read() - before;
	check(before < 4096, "%llu bytes were read", (unsigned long long)before);
}

static void *answers(void *nothing)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		check(taken(pair.files[0]) == 1, "a round");
		gives(pair.files[1], 1);
		pair.done++;
	}
	return nothing;
}

static void turns(int priority)
{
	pthread_t other;
	unsigned int i;

	pair.files[0] = event(0, 0);
	pair.files[1] = event(0, EFD_SEMAPHORE);
	pair.done = 0;
	other = begin_thread(priority, answers, NULL);
	for (i = 0; i < ROUNDS; i++) {
		gives(pair.files[0], 1);
		check(taken(pair.files[1]) == 1, "an answer");
	}
	check(!pthread_join(other, NULL), "pthread_join");
	check(pair.done == ROUNDS, "%u rounds", pair.done);
	close(pair.files[0]);
	close(pair.files[1]);
}

/* Threads in primary mode and in Linux wake each other. */
void event_turns(void)
{
	struct pillion_dual_thread thread = { 0 };
	uint64_t calls;

	enter();
	to_primary();
	turns(PRIORITY - 1);
	turns(PRIORITY + 1);
	if (!is_native) {
		check(look(gettid(), &thread), "it is unknown");
		calls = thread.left[PILLION_DUAL_LEFT_CALL];
		check(calls < ROUNDS / 2, "it went to Linux %llu times", (unsigned long long)calls);
	}
	/* Such a thread waits in Linux. */
	turns(0);
	check_entries(1);
}

static void *polls(void *nothing)
{
	struct pollfd file = { .fd = pair.files[0], .events = POLLIN };
	struct epoll_event found, wanted = { .events = EPOLLIN };
	int set = epoll_create1(0);

	check(poll(&file, 1, 10000) == 1 && file.revents == POLLIN, "poll");
	check(!epoll_ctl(set, EPOLL_CTL_ADD, file.fd, &wanted), "epoll_ctl");
	check(epoll_wait(set, &found, 1, 10000) == 1, "epoll_wait");
	pair.done = 1;
	check(taken(file.fd) == 7, "the first count");
	check(!epoll_wait(set, &found, 1, 0), "it is empty");
	pair.done = 2;
	check(epoll_wait(set, &found, 1, 10000) == 1, "epoll_wait");
	check(taken(file.fd) == 1, "the second count");
	return nothing;
}

/* Those who poll in Linux are woken by threads in primary mode. */
void event_polled(void)
{
	pthread_t other;

	enter();
	pair.files[0] = event(0, 0);
	pair.done = 0;
	other = begin_thread(0, polls, NULL);
	check(!sleep_for(CLOCK_MONOTONIC, 20 * MILLISECOND, NULL), "clock_nanosleep");
	gives(pair.files[0], 7);
	check_mode(true);
	while (pair.done < 2)
		check(!sleep_for(CLOCK_MONOTONIC, MILLISECOND, NULL), "clock_nanosleep");
	check(!sleep_for(CLOCK_MONOTONIC, 20 * MILLISECOND, NULL), "clock_nanosleep");
	gives(pair.files[0], 1);
	check_mode(true);
	check(!pthread_join(other, NULL), "pthread_join");
	check_entries(1);
}

/* Those who poll for edges are told of what they wait for. */
void event_edges(void)
{
	struct epoll_event found, wanted = { .events = EPOLLIN | EPOLLET };
	int file, set;

	enter();
	file = event(3, EFD_SEMAPHORE);
	set = epoll_create1(0);
	check(!epoll_ctl(set, EPOLL_CTL_ADD, file, &wanted), "epoll_ctl");
	check(epoll_wait(set, &found, 1, 0) == 1, "there is something");
	check(taken(file) == 1 && !epoll_wait(set, &found, 1, 0), "a read is told as a write");
	gives(file, 1);
	check(epoll_wait(set, &found, 1, 0) == 1, "a write is not told");
	wanted.events = EPOLLOUT | EPOLLET;
	check(!epoll_ctl(set, EPOLL_CTL_MOD, file, &wanted), "epoll_ctl");
	check(epoll_wait(set, &found, 1, 0) == 1, "there is room");
	gives(file, 1);
	check(!epoll_wait(set, &found, 1, 0), "a write is told as a read");
	check(taken(file) == 1 && epoll_wait(set, &found, 1, 0) == 1, "a read is not told");
}
