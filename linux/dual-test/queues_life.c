// SPDX-License-Identifier: GPL-2.0-only
/* POSIX's message queues: who else uses them, how they end, and wake-ups that must not be lost. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "queues.h"
#include "test.h"

#define SIZE 64

static mqd_t queue, answers_to;

/* An ordinary process that finds the queues by their names. */
static void by_name(void *nothing)
{
	mqd_t own = mq_open(NAME, O_RDONLY), other = mq_open(NAME "-answers", O_WRONLY);
	uint32_t i;

	(void)nothing;
	check(own >= 0 && other >= 0, "mq_open: %s", strerror(errno));
	for (i = 0; i < 100; i++)
		sends(other, received(own) + 1, i % 3);
	_exit(0);
}

/* One that has inherited their descriptors. */
static void by_descriptor(void *nothing)
{
	uint32_t i;

	(void)nothing;
	for (i = 0; i < 100; i++)
		sends(answers_to, received(queue) + 1, 0);
	_exit(0);
}

/* One that is marked as well. */
static void in_primary(void *nothing)
{
	mark(0);
	be_real_time();
	by_name(nothing);
}

/* Processes use the same queue, whatever they are; who is in primary mode stays there. */
void queue_processes(void)
{
	static void (*const others[])(void *) = { by_name, by_descriptor, in_primary };
	unsigned int i, other;
	uint64_t before;
	pid_t child;

	enter();
	queue = make_named_queue(NAME, 4, SIZE, 0);
	answers_to = make_named_queue(NAME "-answers", 4, SIZE, 0);
	for (other = 0; other < COUNT(others); other++) {
		child = spawn(others[other], NULL);
		to_primary();
		before = queue_calls_left();
		to_primary();
		for (i = 0; i < 100; i++) {
			sends(queue, i, 0);
			check(received(answers_to) == i + 1, "answer %u", i);
			check_mode(true);
		}
		check(queue_calls_left() == before, "%llu calls went to Linux",
		      (unsigned long long)(queue_calls_left() - before));
		check(!status_of(child), "process %u", other);
	}
	check(!mq_unlink(NAME) && !mq_unlink(NAME "-answers"), "mq_unlink");
	check_entries(3);
}

static volatile pid_t waiter;

static void *receives(void *nothing)
{
	(void)nothing;
	waiter = gettid();
	return (void *)(uintptr_t)received(queue);
}

/* A queue lasts as long as its name or a descriptor does, with its messages; a wait goes on. */
void queue_ends(void)
{
	pthread_t other;
	void *got;
	mqd_t again;
	pid_t child;
	int round;

	enter();
	for (round = 0; round < 40; round++) {
		queue = make_named_queue(NAME, 4, SIZE, 0);
		to_primary();
		sends(queue, 1, 0);
		sends(queue, 2, 9);
		check(!mq_close(queue), "mq_close");
		/* Nobody has it open. */
		queue = mq_open(NAME, O_RDWR);
		check(queue >= 0 && messages(queue) == 2, "its messages");
		to_primary();
		check(received(queue) == 2, "the most urgent");
		check_mode(true);
		check(!mq_unlink(NAME), "mq_unlink");
		check(mq_open(NAME, O_RDWR) < 0 && errno == ENOENT, "it has no name");
		again = make_named_queue(NAME, 4, SIZE, 0);
		check(received(queue) == 1 && !messages(again), "two of that name");
		other = begin_thread(round % 2 ? PRIORITY + 1 : 0, receives, NULL);
		await_sleep(&waiter);
		check(dup2(again, again + 9) == again + 9 && !mq_close(again), "dup2");
		again += 9;
		child = fork();
		if (!child) {
			usleep(5000);
			sends(queue, 3, 0);
			_exit(0);
		}
		/* The child's is the last descriptor. */
		check(!mq_close(queue), "mq_close");
		check(!pthread_join(other, &got) && got == (void *)3, "what the child sent");
		check(!status_of(child), "the child");
		check(!mq_unlink(NAME) && !mq_close(again), "the other one");
	}
	check_entries(1);
}

static bool can(short what)
{
	struct pollfd file = { .fd = queue, .events = what };

	check(poll(&file, 1, 0) >= 0, "poll");
	return file.revents & what;
}

static void *polls(void *what)
{
	struct pollfd file = { .fd = queue, .events = (short)(intptr_t)what };

	check(poll(&file, 1, 10000) == 1, "poll");
	return NULL;
}

/* Threads that poll see what those in primary mode do. */
void queue_polled(void)
{
	pthread_t other;
	int round;

	enter();
	queue = make_queue(1, SIZE, 0);
	for (round = 0; round < 20; round++) {
		check(!can(POLLIN) && can(POLLOUT), "an empty queue");
		other = begin_thread(0, polls, (void *)POLLIN);
		usleep(2000);
		to_primary();
		sends(queue, 5, 0);
		check_mode(true);
		check(!pthread_join(other, NULL), "pthread_join");
		check(can(POLLIN) && !can(POLLOUT), "a full queue");
		other = begin_thread(0, polls, (void *)POLLOUT);
		usleep(2000);
		to_primary();
		check(received(queue) == 5, "the message");
		check_mode(true);
		check(!pthread_join(other, NULL), "pthread_join");
	}
	check_entries(1);
}

/* What Linux shows of a queue as a file. */
void queue_shown(void)
{
	char folder[] = "/tmp/dual-test-XXXXXX", path[64], text[256] = "";
	long bytes = -1;
	int file;

	enter();
	queue = make_named_queue(NAME, 4, SIZE, 0);
	check(mkdtemp(folder) && !mount("mqueue", folder, "mqueue", 0, NULL), "mount: %s", strerror(errno));
	to_primary();
	check(!queue_send(queue, text, 50, 0, 0) && !queue_send(queue, text, 7, 0, 0), "send");
	snprintf(path, sizeof(path), "%s%s", folder, NAME);
	file = open(path, O_RDONLY);
	check(file >= 0 && read(file, text, sizeof(text) - 1) > 0, "%s: %s", path, strerror(errno));
	check(sscanf(text, "QSIZE:%ld NOTIFY:", &bytes) == 1 && bytes == 57, "it is \"%s\"", text);
	check(lseek(file, 7, SEEK_SET) == 7 && read(file, text, 3) == 3 && !memcmp(text, "7  ", 3), "a part");
	/* A descriptor of that kind is one of a queue, too. */
	check(queue_receive(file, text, SIZE, NULL, 0) == 50, "receive");
	check(!close(file) && !unlink(path), "unlink");
	check(mq_open(NAME, O_RDWR) < 0 && errno == ENOENT, "it has no name");
	check(queue_receive(queue, text, SIZE, NULL, 0) == 7, "receive");
	check(!umount(folder) && !rmdir(folder), "umount");
	check_entries(1);
}

/* More of them, or larger ones, than both sides can share are Linux's. */
void queue_many(void)
{
	mqd_t queues[50];
	unsigned int i;

	enter();
	for (i = 0; i < COUNT(queues); i++)
		queues[i] = make_queue(i == 8 ? 65 : 2, i == 7 ? 9000 : 64, 0);
	to_primary();
	for (i = 0; i < COUNT(queues); i++) {
		sends(queues[i], i, 0);
		sends(queues[i], i, 1);
	}
	for (i = 0; i < COUNT(queues); i++) {
		char text[9000];

		check(queue_receive(queues[i], text, sizeof(text), NULL, 0) == 4 && *(uint32_t *)text == i, "queue %u", i);
		check(messages(queues[i]) == 1 && !mq_close(queues[i]), "queue %u", i);
	}
	/* What is free again is shared again. */
	queue = make_queue(2, SIZE, 0);
	to_primary();
	sends(queue, 1, 0);
	check(received(queue) == 1, "a new one");
	check_mode(true);
	check_entries(1);
}

static void *answers(void *nothing)
{
	for (;;)
		sends(answers_to, received(queue) + 1, 0);
	return nothing;
}

/*
 * Two threads go on with their queues while Linux is dead, for 1000 rounds of 200 microseconds. It
 * then calls getppid() if none took long, which Linux's successor finds in the log.
 */
int outlive_queues(void)
{
	unsigned int dead = 0, i;
	int64_t begin, longest = 0;

	enter();
	queue = make_queue(2, SIZE, 0);
	answers_to = make_queue(2, SIZE, 0);
	begin_thread(PRIORITY + 1, answers, NULL);
	for (i = 0; i < 20000 && dead < 1000; i++) {
		sleep_for(CLOCK_MONOTONIC, 200 * MICROSECOND, NULL);
		begin = now(CLOCK_MONOTONIC);
		sends(queue, i, 0);
		check(received(answers_to) == i + 1, "answer %u", i);
		if (pillion_dual_linux() == PILLION_DUAL_LINUX_LIVES)
			continue;
		dead++;
		if (now(CLOCK_MONOTONIC) - begin > longest)
			longest = now(CLOCK_MONOTONIC) - begin;
	}
	check(dead, "Linux has not died");
	CALL0(dead < 1000 || longest > MILLISECOND ? SYS_getuid : SYS_getppid);
	return 0;
}

/* Threads by priority; 0: ordinary. */
static const int priorities[] = { PRIORITY, 0, PRIORITY + 10, 0, PRIORITY - 10, PRIORITY };

#define THREADS COUNT(priorities)
#define HOPS 6000u

static mqd_t queues[3];
static uint32_t hops;

/*
 * Takes from one queue and puts into another. Now and then it gives up a wait, or is in Linux, and
 * whoever waits beside it must get what it did not take.
 */
static void *passes_on(void *context)
{
	unsigned int seed = (uintptr_t)context + 1;
	uint32_t number;
	char text[SIZE];

	while (__atomic_load_n(&hops, __ATOMIC_RELAXED) < HOPS) {
		mqd_t from = queues[rand_r(&seed) % COUNT(queues)], to = queues[rand_r(&seed) % COUNT(queues)];
		int64_t until = now(CLOCK_REALTIME) + 1 + rand_r(&seed) % 300 * MICROSECOND;

		if (!(rand_r(&seed) % 16))
			to_linux();
		if (queue_receive(from, text, sizeof(text), NULL, until) != sizeof(number))
			continue;
		memcpy(&number, text, sizeof(number));
		__atomic_add_fetch(&hops, 1, __ATOMIC_RELAXED);
		sends(to, number, rand_r(&seed) % 3);
	}
	return NULL;
}

/* Waits for ever: each message that comes has to find such a thread. */
static void *takes_all(void *context)
{
	unsigned int which = (uintptr_t)context % COUNT(queues);

	for (;;) {
		uint32_t number = received(queues[which]);

		__atomic_add_fetch(&hops, 1, __ATOMIC_RELAXED);
		if (number == UINT32_MAX)
			return NULL;
		sends(queues[(which + 1) % COUNT(queues)], number, 0);
	}
}

/* Messages go round among threads of all kinds: if a wake-up is lost, none goes any further. */
static void go_round(void *(*run)(void *), unsigned int count)
{
	pthread_t threads[THREADS];
	uint32_t before = 0;
	unsigned int i;

	hops = 0;
	for (i = 0; i < THREADS; i++)
		threads[i] = begin_thread(priorities[i], run, (void *)(uintptr_t)i);
	for (i = 0; i < count; i++)
		sends(queues[0], i, 0);
	while (__atomic_load_n(&hops, __ATOMIC_RELAXED) < HOPS) {
		sleep(2);
		check(hops != before, "a wake-up was lost after %u hops", hops);
		before = hops;
	}
	if (run == takes_all)
		for (i = 0; i < THREADS; i++)
			sends(queues[i % COUNT(queues)], UINT32_MAX, 9);
	for (i = 0; i < THREADS; i++)
		check(!pthread_join(threads[i], NULL), "pthread_join");
	for (i = 0, before = 0; i < COUNT(queues); before += messages(queues[i++])) {
	}
	check(before == count, "%u messages of %u are left", before, count);
	for (i = 0; i < COUNT(queues); i++)
		for (; messages(queues[i]); received(queues[i])) {
		}
}

void queue_storm(void)
{
	unsigned int i;

	mark(0);
	check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall");
	for (i = 0; i < COUNT(queues); i++)
		queues[i] = make_queue(4, SIZE, 0);
	go_round(passes_on, 1);
	go_round(passes_on, 3);
	go_round(takes_all, 1);
	go_round(takes_all, 2);
}
