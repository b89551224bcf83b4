// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads in primary mode meet an RTLinux task, rt/tests/programs/with/names.c: semaphores and
 * message queues by name, and shared memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pillion_mbuff.h>
#include <pillion_objects.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* The same as in the task's names.h. */
#define COMMAND_ADD 1
#define COMMAND_POST 2
#define COMMAND_MESSAGE 3
#define MESSAGE 64

struct board {
	int command;
	int argument;
	int result;
};

static volatile struct board *board;
static long to_task, to_process;

static int64_t soon(int64_t ns)
{
	return now(CLOCK_MONOTONIC) + ns;
}

static long open_semaphore(const char *name, unsigned int flags, uint64_t value)
{
	struct pillion_dual_open open = { .kind = PILLION_DUAL_OBJECT_SEMAPHORE, .flags = flags, .mode = 0600, .value = value };

	strcpy(open.name, name);
	return pillion_open(device, &open);
}

static void open_board(void)
{
	struct mbuff_request_struct request = { .name = "board", .size = 4096 };
	int file = open(MBUFF_DEV_NAME, O_RDWR);

	check(file >= 0 && ioctl(file, IOCTL_MBUFF_SELECT, &request) >= 4096, "the board: %s", strerror(errno));
	board = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	check(board != MAP_FAILED, "mmap: %s", strerror(errno));
	close(file);
}

/* Meets the task that runs. */
static void meet_task(void)
{
	open_board();
	to_task = open_semaphore("/to-task", 0, 0);
	to_process = open_semaphore("/to-process", 0, 0);
	check(to_task > 0 && to_process > 0, "the task's semaphores: %ld, %ld", to_task, to_process);
}

static int have_done(int command, int argument)
{
	long result;

	board->command = command;
	board->argument = argument;
	check(!pillion_semaphore_post(device, to_task), "post");
	result = pillion_semaphore_wait(device, to_process, CLOCK_MONOTONIC, soon(10 * SECOND));
	check(!result, "the task does not answer: %ld", result);
	return board->result;
}

static struct pillion_dual_thread seen(void)
{
	struct pillion_dual_thread thread = { .entries = 0 };

	check(look(gettid(), &thread), "look");
	return thread;
}

/* The task is more urgent: a post for it is answered before the thread that posted goes on. */
static void tell_cost(void)
{
	/* Within a budget, of which each call needs a part. */
	const int count = 3;
	int64_t begin, end;
	int i;

	sleep_for(CLOCK_MONOTONIC, 2 * MILLISECOND, NULL);
	begin = now(CLOCK_MONOTONIC);
	for (i = 0; i < count; i++)
		have_done(COMMAND_ADD, i);
	end = now(CLOCK_MONOTONIC);
	tell("a turn of the task takes %lld ns", (long long)(end - begin) / count);
}

/* Semaphores and shared memory of a task are used in primary mode without Linux. */
void tasks(void)
{
	struct pillion_dual_thread before, after;
	int i;

	enter();
	meet_task();
	check(have_done(COMMAND_ADD, 1) == 2, "its answer");
	to_primary();
	before = seen();
	for (i = 0; i < 500; i++) {
		check(have_done(COMMAND_ADD, i) == i + 1, "answer %d", i);
		check(is_primary(), "it is in Linux");
	}
	after = seen();
	/* What it called and what it touched is Pillion's. `look` leads to Linux. */
	check(after.left[PILLION_DUAL_LEFT_FAULT] == before.left[PILLION_DUAL_LEFT_FAULT], "shared memory faults");
	check(after.entries <= before.entries + 1, "%llu entries", (unsigned long long)(after.entries - before.entries));
	check(!pillion_semaphore_value(device, to_task), "its value");
	check(pillion_semaphore_wait(device, to_process, PILLION_TRY, 0) == -EAGAIN, "a try");
	check(pillion_semaphore_wait(device, to_process, CLOCK_MONOTONIC, soon(MILLISECOND)) == -ETIMEDOUT, "in vain");
	check(pillion_semaphore_wait(device, to_process, 77, 0) == -EINVAL, "an unknown clock");
	check(pillion_unlink(device, "/to-task", PILLION_DUAL_OBJECT_FLAGS) == -ENOENT, "another kind");
	tell_cost();
	be_ordinary();
	for (i = 0; i < 50; i++)
		check(have_done(COMMAND_ADD, i) == i + 1, "answer %d to Linux", i);
	check(!is_primary(), "an ordinary thread is in primary mode");
	check(!pillion_close(device, to_task) && pillion_close(device, to_task) == -EINVAL, "close");
	check(pillion_semaphore_post(device, to_task) == -EINVAL, "after its close");
}

static long made;
static volatile int handled;

static void handles(int sig)
{
	(void)sig;
	handled++;
}

static void *disturbs(void *thread)
{
	usleep(20000);
	pthread_kill(*(pthread_t *)thread, SIGUSR1);
	return NULL;
}

static void uses_made(void *nothing)
{
	(void)nothing;
	enter();
	made = open_semaphore("/made", 0, 0);
	check(made > 0, "another process: %ld", made);
	check(!pillion_semaphore_wait(device, made, CLOCK_MONOTONIC, soon(10 * SECOND)), "a turn");
}

/* A semaphore that a process makes: a task posts it, other processes wait for it. */
void tasks_made(void)
{
	struct sigaction action = { .sa_handler = handles };
	pthread_t own = pthread_self(), thread;
	pid_t child;

	check(!sigaction(SIGUSR1, &action, NULL), "sigaction");
	enter();
	meet_task();
	check(have_done(COMMAND_POST, 1) == -ENOENT, "before it is made");
	made = open_semaphore("/made", PILLION_DUAL_OPEN_CREATE | PILLION_DUAL_OPEN_EXCLUSIVE, 1);
	check(made > 0 && open_semaphore("/made", PILLION_DUAL_OPEN_CREATE, 5) == made, "made: %ld", made);
	check(open_semaphore("/made", PILLION_DUAL_OPEN_CREATE | PILLION_DUAL_OPEN_EXCLUSIVE, 1) == -EEXIST, "it is there");
	check(have_done(COMMAND_POST, 2) == 0 && pillion_semaphore_value(device, made) == 3, "posts of the task");
	while (!pillion_semaphore_wait(device, made, PILLION_TRY, 0))
		;
	thread = begin_thread(0, disturbs, &own);
	check(pillion_semaphore_wait(device, made, PILLION_FOREVER, 0) == -EINTR && handled == 1, "a handler");
	pthread_join(thread, NULL);
	child = spawn(uses_made, NULL);
	sleep_for(CLOCK_MONOTONIC, 50 * MILLISECOND, NULL);
	check(have_done(COMMAND_POST, 1) == 0 && !status_of(child), "the other process");
	/* Killed while it waits: what is posted afterwards is not lost on it. */
	child = spawn(uses_made, NULL);
	sleep_for(CLOCK_MONOTONIC, 50 * MILLISECOND, NULL);
	kill(child, SIGKILL);
	check(WIFSIGNALED(status_of(child)), "the waiter");
	check(have_done(COMMAND_POST, 1) == 0 && pillion_semaphore_value(device, made) == 1, "after its death");
	check(!pillion_close(device, made), "close");
	check(have_done(COMMAND_POST, 1) == -ENOENT, "after its end");
	check(open_semaphore("/made", 0, 0) == -ENOENT, "after its end");
	made = open_semaphore("/made", PILLION_DUAL_OPEN_CREATE, 0);
	check(made > 0 && !pillion_unlink(device, "/made", PILLION_DUAL_OBJECT_SEMAPHORE), "unlink");
	check(have_done(COMMAND_POST, 1) == -ENOENT && !pillion_semaphore_post(device, made), "after its unlink");
}

static long requests, answers;

static void ask_by_message(const char *text, unsigned int priority)
{
	char answer[MESSAGE];
	unsigned int answered = 0;
	long size = strlen(text);

	check(!pillion_queue_send(device, requests, text, size, priority, PILLION_TRY, 0), "send");
	check(have_done(COMMAND_MESSAGE, 0) == size, "the task received %d", board->result);
	check(pillion_queue_receive(device, answers, answer, sizeof(answer), &answered, PILLION_TRY, 0) == size &&
	      answered == priority + 1 && !memcmp(answer, text, size), "its answer");
}

static void *sends_later(void *text)
{
	char answer[MESSAGE];

	usleep(20000);
	check(!pillion_queue_send(device, answers, text, strlen(text), 3, PILLION_FOREVER, 0), "send");
	usleep(20000);
	/* Whoever waits for room has it now. */
	check(pillion_queue_receive(device, requests, answer, sizeof(answer), NULL, PILLION_FOREVER, 0) == 1, "receive");
	return NULL;
}

/* Reads and writes at all offsets of two pages, of which the first one ends within the message. */
static void cross_pages(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	int at;

	check(pages != MAP_FAILED, "mmap");
	to_primary();
	for (at = 4096 - MESSAGE - 3; at < 4096 + 3; at++) {
		char *text = pages + at, expected[MESSAGE];

		memset(pages, 0x55, 8192);
		memset(text, at, MESSAGE - 1);
		memcpy(expected, text, MESSAGE);
		check(!pillion_queue_send(device, answers, text, MESSAGE - 1, 0, PILLION_TRY, 0), "send at %d", at);
		memset(pages, 0x55, 8192);
		check(pillion_queue_receive(device, answers, text, MESSAGE, NULL, PILLION_TRY, 0) == MESSAGE - 1, "at %d", at);
		check(!memcmp(text, expected, MESSAGE) && text[-1] == 0x55, "what was received at %d", at);
	}
}

/* Messages between a task and a thread in primary mode, and one in Linux. */
void tasks_queues(void)
{
	struct pillion_dual_open open = { .name = "/requests", .kind = PILLION_DUAL_OBJECT_QUEUE };
	uint32_t most = 0, bytes = 0, count = 0, priority = 0;
	struct pillion_dual_thread before, after;
	char text[MESSAGE + 1] = "";
	pthread_t thread;
	long small, result;
	int i;

	enter();
	meet_task();
	requests = pillion_open(device, &open);
	strcpy(open.name, "/answers");
	answers = pillion_open(device, &open);
	check(requests > 0 && answers > 0, "the task's queues: %ld, %ld", requests, answers);
	check(!pillion_queue_state(device, requests, &most, &bytes, &count) && most == 4 && bytes == MESSAGE && !count,
	      "its state: %u of %u, %u", most, bytes, count);
	ask_by_message("first", 0);
	to_primary();
	before = seen();
	for (i = 0; i < 100; i++) {
		sprintf(text, "message %d", i);
		ask_by_message(text, i % 31);
	}
	after = seen();
	check(after.entries <= before.entries + 1, "%llu entries", (unsigned long long)(after.entries - before.entries));
	cross_pages();
	check(pillion_queue_send(device, answers, text, sizeof(text), 0, PILLION_TRY, 0) == -EMSGSIZE, "too long");
	check(pillion_queue_send(device, answers, text, 1, 32, PILLION_TRY, 0) == -EINVAL, "its priority");
	check(pillion_queue_receive(device, answers, text, MESSAGE - 1, NULL, PILLION_TRY, 0) == -EMSGSIZE, "too little room");
	check(pillion_queue_receive(device, answers, text, MESSAGE, NULL, PILLION_TRY, 0) == -EAGAIN, "none");
	check(pillion_queue_receive(device, answers, text, MESSAGE, NULL, CLOCK_MONOTONIC, soon(MILLISECOND)) == -ETIMEDOUT, "in vain");
	check(pillion_queue_receive(device, answers, (void *)8, MESSAGE, NULL, PILLION_TRY, 0) == -EFAULT, "no memory");
	check(pillion_queue_send(device, answers, (void *)-8l, MESSAGE, 0, PILLION_TRY, 0) == -EFAULT, "no memory");
	check(pillion_queue_receive(device, answers, (void *)&open, sizeof(open), NULL, PILLION_TRY, 0) == -EAGAIN, "nothing");
	for (i = 0; i < 2; i++) {
		/* Once from primary mode, once from Linux. */
		if (i)
			be_ordinary();
		thread = begin_thread(0, sends_later, "later");
		result = pillion_queue_receive(device, answers, text, MESSAGE, &priority, PILLION_FOREVER, 0);
		check(result == 5 && priority == 3 && !memcmp(text, "later", 5), "what comes later, turn %d: %ld of priority %u, %.5s", i,
		      result, priority, text);
		for (most = 0; !(result = pillion_queue_send(device, requests, "x", 1, 0, PILLION_TRY, 0)); most++)
			;
		check(most == 4 && result == -EAGAIN, "%u messages, then %ld", most, result);
		check(!pillion_queue_send(device, requests, "y", 1, 0, CLOCK_MONOTONIC, soon(10 * SECOND)), "room");
		pthread_join(thread, NULL);
		while (pillion_queue_receive(device, requests, text, MESSAGE, NULL, PILLION_TRY, 0) > 0)
			;
	}
	strcpy(open.name, "/small");
	open.flags = PILLION_DUAL_OPEN_CREATE;
	open.value = pillion_queue_shape(0, 5);
	check(pillion_open(device, &open) == -EINVAL, "a queue for nothing");
	open.value = pillion_queue_shape(2, 8);
	small = pillion_open(device, &open);
	check(small > 0 && !pillion_queue_state(device, small, &most, &bytes, &count) && most == 2 && bytes == 8, "a queue of its own");
	check(pillion_semaphore_post(device, small) == -EINVAL && pillion_queue_state(device, to_task, &most, &bytes, &count) == -EINVAL,
	      "other kinds");
	check(!pillion_close(device, small), "close");
	open.flags = 0;
	check(pillion_open(device, &open) == -ENOENT, "after its end");
}

static void *reloads(void *nothing)
{
	usleep(50000);
	board->command = COMMAND_ADD;
	check(!system("pillion unload names && pillion load names"), "unload and load");
	/* The task's first turn of its new life. */
	check(!pillion_semaphore_post(device, to_task), "post");
	return nothing;
}

/* The task ends while a thread waits for it: it waits on, and meets the task's next life. */
void tasks_end(void)
{
	pthread_t thread;
	long result;

	enter();
	meet_task();
	result = pillion_semaphore_wait(device, to_process, CLOCK_MONOTONIC, soon(5 * MILLISECOND));
	check(result == -ETIMEDOUT, "before: %ld", result);
	thread = begin_thread(0, reloads, NULL);
	result = pillion_semaphore_wait(device, to_process, CLOCK_MONOTONIC, soon(20 * SECOND));
	check(!result, "after its end: %ld", result);
	pthread_join(thread, NULL);
	check(have_done(COMMAND_ADD, 7) == 8, "the new one");
}

static void makes_until_full(void *result)
{
	char name[32];
	long handle;
	int count = 0;

	mark(0);
	do {
		sprintf(name, "/full-%d-%d", getpid(), count++);
		handle = open_semaphore(name, PILLION_DUAL_OPEN_CREATE, 0);
	} while (handle > 0);
	*(long *)result = handle;
	pause();
}

/* Processes take all semaphores that are not reserved: the task still makes its own. */
void tasks_full(void)
{
	volatile long *results = shared(3 * sizeof(*results));
	pid_t children[3];
	unsigned int i;

	mark(0);
	for (i = 0; i < COUNT(children); i++) {
		children[i] = spawn(makes_until_full, (void *)&results[i]);
		while (!results[i])
			usleep(1000);
		check(results[i] == (i ? -ENFILE : -ENOSPC) || results[i] == -ENOSPC, "process %u: %ld", i, results[i]);
	}
	check(!system("pillion unload names && pillion load names"), "the task has what is reserved for it");
	meet_task();
	check(have_done(COMMAND_ADD, 7) == 8, "the task");
	for (i = 0; i < COUNT(children); i++) {
		kill(children[i], SIGKILL);
		status_of(children[i]);
	}
	made = open_semaphore("/made", PILLION_DUAL_OPEN_CREATE, 0);
	check(made > 0, "when they have ended: %ld", made);
}
