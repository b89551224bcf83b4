// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads in primary mode use the FIFOs of an RTLinux task, rt/tests/programs/with/fifos.c. The
 * task is there without dual mode as well, so all of this is tried in Linux alone, too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../rt/tests/programs/with/fifos.h"
#include "files.h"
#include "test.h"

#define SENT 2000
#define WRITTEN 500

static int open_fifo(int number, int flags)
{
	char name[16];
	int file;

	snprintf(name, sizeof(name), "/dev/rtf%d", number);
	file = open(name, flags);
	check(file >= 0, "%s: %s", name, strerror(errno));
	return file;
}

static long get(int file, void *to, size_t size)
{
	return call(SYS_read, file, (long)to, size, 0, 0, 0);
}

static long put(int file, const void *from, size_t size)
{
	return call(SYS_write, file, (long)from, size, 0, 0, 0);
}

static struct message asked(int command, unsigned int count)
{
	static int requests, answers;
	struct message message = { .command = command, .count = { count } };

	if (!requests) {
		requests = open_fifo(FIFO_REQUESTS, O_WRONLY);
		answers = open_fifo(FIFO_ANSWERS, O_RDONLY);
		to_primary();
	}
	snprintf(message.text, sizeof(message.text), "request %u", count);
	check(put(requests, &message, sizeof(message)) == sizeof(message), "put");
	check(get(answers, &message, sizeof(message)) == sizeof(message), "get");
	check(message.command == command, "the answer %d to %d", message.command, command);
	return message;
}

/* A task answers a thread in primary mode, which waits for that, without Linux. */
void fifo_echo(void)
{
	char text[40];
	uint64_t before;
	unsigned int i;

	enter();
	asked(COMMAND_ECHO, 0);
	to_primary();
	before = left_by(SYS_read, SYS_write);
	for (i = 0; i < 500; i++) {
		snprintf(text, sizeof(text), "request %u", i);
		check(!strcmp(asked(COMMAND_ECHO, i).text, text), "answer %u", i);
		check_mode(true);
	}
	before = left_by(SYS_read, SYS_write) - before;
	check(!before, "%llu calls went to Linux", (unsigned long long)before);
	check_entries(1);
}

/* A task has reads of its FIFO take from another task's: nobody gets what is in that. */
void fifo_stolen(void)
{
	struct record record;
	int own, stolen;

	enter();
	own = open_fifo(FIFO_RECORDS, O_RDONLY);
	stolen = open_fifo(FIFO_STOLEN, O_RDONLY | O_NONBLOCK);
	asked(COMMAND_SEND, 1);
	to_primary();
	check(get(stolen, &record, sizeof(record)) == -ENODEV, "the other task's record");
	to_primary();
	check(get(own, &record, sizeof(record)) == sizeof(record) && record.number == 1, "the record has gone");
}

/* Which records came, whoever read them. */
static unsigned char seen[SENT + 1];
static volatile unsigned int seen_count, stray;
static int records;

static void *reads(void *nothing)
{
	struct record record;

	(void)nothing;
	while (seen_count < SENT) {
		long size = get(records, &record, sizeof(record));

		if (!size) {
			/* Nobody waits for ever for what another one has read. */
			usleep(100);
			continue;
		}
		if (size != sizeof(record) || !is_whole(&record) || record.number - 1 >= SENT)
			stray++;
		else
			__atomic_add_fetch(&seen[record.number], 1, __ATOMIC_SEQ_CST);
		__atomic_add_fetch(&seen_count, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void check_records(void)
{
	unsigned int i;

	check(!stray, "%u records were torn", stray);
	for (i = 1; i <= SENT; i++)
		check(seen[i] == 1, "record %u came %u times", i, seen[i]);
}

/* Records of a task come once and whole: to one reader in primary mode, in order. */
void fifo_records(void)
{
	struct record record;
	uint64_t before;
	unsigned int i;

	enter();
	records = open_fifo(FIFO_RECORDS, O_RDONLY);
	asked(COMMAND_SEND, SENT);
	to_primary();
	before = left_by(SYS_read, SYS_write);
	for (i = 1; i <= SENT; i++) {
		check(get(records, &record, sizeof(record)) == sizeof(record), "record %u", i);
		check(is_whole(&record) && record.number == i, "record %u is %u", i, record.number);
	}
	check_mode(true);
	before = left_by(SYS_read, SYS_write) - before;
	check(!before, "%llu calls went to Linux", (unsigned long long)before);
	check_entries(1);
}

/* And to readers in primary mode and in Linux at the same time. */
void fifo_readers(void)
{
	static const int priorities[] = { PRIORITY + 1, PRIORITY - 1, 0, 0 };
	pthread_t readers[COUNT(priorities)];
	unsigned int i;

	enter();
	records = open_fifo(FIFO_RECORDS, O_RDONLY | O_NONBLOCK);
	asked(COMMAND_SEND, SENT);
	for (i = 0; i < COUNT(priorities); i++)
		readers[i] = begin_thread(priorities[i], reads, NULL);
	for (i = 0; i < COUNT(priorities); i++)
		check(!pthread_join(readers[i], NULL), "pthread_join");
	check_records();
	check_entries(1);
}

static int taken_by_task;

static void *writes(void *writer)
{
	struct record record;
	unsigned int i;
	long result;

	for (i = 1; i <= WRITTEN; i++) {
		fill(&record, i, (uintptr_t)writer);
		result = put(taken_by_task, &record, sizeof(record));
		check(result == sizeof(record), "write %u: %ld", i, result);
	}
	return NULL;
}

/* Threads in primary mode and in Linux write to a FIFO that is full most of the time. */
void fifo_writers(void)
{
	static const int priorities[WRITERS] = { PRIORITY + 1, PRIORITY - 1, 0 };
	pthread_t writers[WRITERS];
	struct message told;
	uint64_t i;

	enter();
	taken_by_task = open_fifo(FIFO_TAKEN, O_WRONLY);
	asked(COMMAND_TELL, 0);
	for (i = 0; i < WRITERS; i++)
		writers[i] = begin_thread(priorities[i], writes, (void *)i);
	for (i = 0; i < WRITERS; i++)
		check(!pthread_join(writers[i], NULL), "pthread_join");
	/* What was written last is in the FIFO still. */
	sleep_for(CLOCK_MONOTONIC, 2 * MILLISECOND, NULL);
	told = asked(COMMAND_TELL, 0);
	check(!told.wrong, "%u records were wrong", told.wrong);
	for (i = 0; i < WRITERS; i++)
		check(told.count[i] == WRITTEN, "%u records of writer %u", told.count[i], (unsigned int)i);
	/* One alone needs no Linux. */
	to_primary();
	i = left_by(SYS_read, SYS_write);
	writes((void *)0);
	check_mode(true);
	check(left_by(SYS_read, SYS_write) == i, "calls went to Linux");
	sleep_for(CLOCK_MONOTONIC, 2 * MILLISECOND, NULL);
	told = asked(COMMAND_TELL, 0);
	check(!told.wrong && told.count[0] == WRITTEN, "%u records, %u wrong", told.count[0], told.wrong);
	check_entries(1);
}

static void *answers_bytes(void *nothing)
{
	struct pollfd file = { .fd = pair.files[0], .events = POLLIN };
	unsigned char byte;
	int i;

	for (i = 0; i < 50; i++) {
		/* A reader that waits, and one that polls. */
		if (i % 2)
			check(poll(&file, 1, 10000) == 1, "poll");
		check(read(pair.files[0], &byte, 1) == 1 && byte == i, "byte %d", i);
		byte += 100;
		check(write(pair.files[1], &byte, 1) == 1, "write");
	}
	return nothing;
}

/* Threads in primary mode and in Linux wake each other, by bytes that no task takes. */
void fifo_turns(void)
{
	static const int priorities[] = { 0, PRIORITY + 1, PRIORITY - 1 };
	unsigned char byte;
	pthread_t other;
	unsigned int i;

	enter();
	pair.files[0] = open_fifo(FIFO_IDLE, O_RDWR);
	pair.files[1] = open_fifo(FIFO_RECORDS, O_RDWR);
	for (i = 0; i < COUNT(priorities); i++) {
		/* Records are not asked for here: the task only puts what it was asked for. */
		struct pollfd back = { .fd = pair.files[1], .events = POLLIN };

		check(!poll(&back, 1, 0), "it is not empty");
		other = begin_thread(priorities[i], answers_bytes, NULL);
		for (byte = 0; byte < 50; byte++) {
			unsigned char answer;

			check(put(pair.files[0], &byte, 1) == 1, "put");
			sleep_for(CLOCK_MONOTONIC, 50 * MICROSECOND, NULL);
			check(get(pair.files[1], &answer, 1) == 1 && answer == byte + 100, "answer %d", byte);
		}
		check(!pthread_join(other, NULL), "pthread_join");
	}
	check_entries(1);
}

/* Results are the device's. */
void fifo_results(void)
{
	char bytes[FIFO_BYTES + 1] = { 1, 2, 3, 4 }, got[FIFO_BYTES], byte;
	char *no_memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int both, reader, writer, handled_fifo, twice;

	enter();
	both = open_fifo(FIFO_IDLE, O_RDWR | O_NONBLOCK);
	reader = open_fifo(FIFO_IDLE, O_RDONLY);
	writer = open_fifo(FIFO_IDLE, O_WRONLY);
	handled_fifo = open_fifo(FIFO_HANDLED, O_RDWR);
	for (twice = 0; twice < 2; twice++) {
		to_primary();
		check(!get(both, got, 4), "a read of nothing");
		check(!get(reader, got, 0), "a read of no bytes");
		check(put(both, bytes, 4) == 4, "put");
		check(get(both, got, 3) == 3 && got[2] == 3, "a part");
		check(get(reader, got, 100) == 1 && got[0] == 4, "the rest");
		check_mode(true);
		check(put(both, bytes, FIFO_BYTES) == FIFO_BYTES, "as much as it holds");
		check(put(both, bytes, 1) == -EAGAIN, "no room");
		check(put(both, bytes, 2) == -EAGAIN, "no room");
		check(get(both, got, 2) == 2, "a part");
		check(put(both, bytes, 3) == -EAGAIN, "a message goes in whole");
		check(put(both, bytes, 2) == 2, "it fits");
		check_mode(true);
		check(get(both, got, sizeof(got)) == sizeof(got), "all of it");
		check(!memcmp(got, bytes + 2, sizeof(got) - 2) && got[FIFO_BYTES - 1] == 2, "what was put");
		check_mode(true);
		/* Beyond what it holds, as much as there is room for. */
		check(put(both, bytes, sizeof(bytes)) == FIFO_BYTES, "more than it holds");
		to_primary();
		check(get(both, got, sizeof(got)) == FIFO_BYTES, "all of it");
		check(put(both, bytes, 0) == 0, "nothing");
		check(put(reader, bytes, 1) == -EBADF, "a write by a reader");
		check(get(writer, got, 1) == -EBADF, "a read by a writer");
		check(put(both, (void *)8, 4) == -EFAULT, "a write from nowhere");
		to_primary();
		check(put(both, bytes, 4) == 4, "put");
		check(get(both, no_memory, 4) == -EFAULT, "a read to nowhere");
		to_primary();
		check(get(both, got, 4) == 4, "it is there still");
		/* Flags can change at any time. */
		check(!fcntl(reader, F_SETFL, O_NONBLOCK), "fcntl");
		to_primary();
		check(!get(reader, &byte, 1), "a file that does not block any more");
		check_mode(true);
		check(!fcntl(reader, F_SETFL, 0), "fcntl");
		/* A handler is called before the call returns. */
		check(put(handled_fifo, bytes, 4) == 4 && get(handled_fifo, got, 4) == 4, "with a handler");
		check_mode(false);
	}
	check_entries(2);
}

/* A call that a signal interrupts ends, or is made again, as in Linux. */
void fifo_interrupted(void)
{
	enter();
	pair.files[0] = open_fifo(FIFO_IDLE, O_RDWR);
	interrupted(4, "x", 1);
	check_entries(4);
}

/*
 * The task answers after Linux has died, too. What the thread then needs of Linux ends it, and
 * shows in the log: `getppid` if all was well.
 */
int outlive_fifos(void)
{
	unsigned int dead = 0, i;
	int64_t begin, longest = 0;

	enter();
	for (i = 0; i < 20000 && dead < 1000; i++) {
		begin = now(CLOCK_MONOTONIC);
		asked(COMMAND_ECHO, i);
		if (pillion_dual_linux() == PILLION_DUAL_LINUX_LIVES)
			continue;
		dead++;
		/* The task looks every 200 microseconds. */
		if (now(CLOCK_MONOTONIC) - begin > longest)
			longest = now(CLOCK_MONOTONIC) - begin;
	}
	check(dead, "Linux has not died");
	CALL0(dead < 1000 || longest > 10 * MILLISECOND ? SYS_getuid : SYS_getppid);
	return 0;
}

/* What a write and a read of some bytes cost. */
void fifo_cost(void)
{
	static const int sizes[] = { 16, 256 };
	const int count = 10;
	char bytes[256] = { 0 };
	int64_t begin, end;
	unsigned int i;
	int file, n;

	enter();
	file = open_fifo(FIFO_IDLE, O_RDWR);
	for (i = 0; i < COUNT(sizes); i++) {
		/* Within a budget. */
		sleep_for(CLOCK_MONOTONIC, 2 * MILLISECOND, NULL);
		begin = now(CLOCK_MONOTONIC);
		for (n = 0; n < count; n++)
			check(put(file, bytes, sizes[i]) == sizes[i] && get(file, bytes, sizes[i]) == sizes[i], "%d bytes", sizes[i]);
		end = now(CLOCK_MONOTONIC);
		check_mode(true);
		tell("a write and a read of %d bytes take %lld ns", sizes[i], (long long)(end - begin) / count);
	}
}
