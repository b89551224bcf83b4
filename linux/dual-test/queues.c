// SPDX-License-Identifier: GPL-2.0-only
/* POSIX's message queues: what the calls return, who waits, and what ends a wait. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files.h"
#include "queues.h"
#include "test.h"

mqd_t make_named_queue(const char *name, long most, long size, int flags)
{
	struct mq_attr attributes = { .mq_maxmsg = most, .mq_msgsize = size };
	mqd_t queue;

	mq_unlink(name);
	queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR | flags, 0600, most ? &attributes : NULL);
	check(queue >= 0, "mq_open %s: %s", name, strerror(errno));
	return queue;
}

mqd_t make_queue(long most, long size, int flags)
{
	mqd_t queue = make_named_queue(NAME, most, size, flags);

	check(!mq_unlink(NAME), "mq_unlink");
	return queue;
}

long queue_send(mqd_t queue, const void *text, size_t length, unsigned int priority, int64_t until)
{
	struct timespec time = timespec_of(until);

	return call(SYS_mq_timedsend, queue, (long)text, length, priority, until ? (long)&time : 0, 0);
}

long queue_receive(mqd_t queue, void *text, size_t room, unsigned int *priority, int64_t until)
{
	struct timespec time = timespec_of(until);

	return call(SYS_mq_timedreceive, queue, (long)text, room, (long)priority, until ? (long)&time : 0, 0);
}

void sends(mqd_t queue, uint32_t number, unsigned int priority)
{
	long result = queue_send(queue, &number, sizeof(number), priority, 0);

	check(!result, "mq_timedsend: %ld", result);
}

uint32_t received(mqd_t queue)
{
	uint32_t number[16];
	long result = queue_receive(queue, number, sizeof(number), NULL, 0);

	check(result == sizeof(*number), "mq_timedreceive: %ld", result);
	return *number;
}

long messages(mqd_t queue)
{
	struct mq_attr attributes;

	check(!mq_getattr(queue, &attributes), "mq_getattr: %s", strerror(errno));
	return attributes.mq_curmsgs;
}

uint64_t queue_calls_left(void)
{
	return left_by(SYS_mq_timedsend, SYS_mq_timedreceive);
}

void await_sleep(volatile pid_t *thread)
{
	char path[64], state = 0;
	FILE *file;
	int i;

	for (i = 0; i < 10000 && state != 'S'; i++) {
		usleep(1000);
		if (!*thread)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)*thread);
		file = fopen(path, "r");
		check(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1, "%s", path);
		fclose(file);
	}
	check(state == 'S', "thread %d does not sleep", (int)*thread);
	*thread = 0;
}

#define SIZE 64

static mqd_t queue;

/* Texts of all lengths, at all places of memory, by priority and then by age. */
void queue_results(void)
{
	static const unsigned int priorities[] = { 3, 0, 32767, 3, 31, 0, 3, 32767 };
	static const unsigned char order[] = { 2, 7, 4, 0, 3, 6, 1, 5 };
	char text[SIZE], got[SIZE + 1];
	unsigned int priority, i;
	long result;

	enter();
	queue = make_queue(COUNT(order), SIZE, 0);
	to_primary();
	for (i = 0; i < COUNT(order); i++) {
		memset(text, 'a' + i, sizeof(text));
		result = queue_send(queue, text, i * 9, priorities[i], 0);
		check(!result, "send: %ld", result);
		check_mode(true);
	}
	for (i = 0; i < COUNT(order); i++) {
		memset(got, 0, sizeof(got));
		result = queue_receive(queue, got + i % 2, SIZE, &priority, 0);
		check(result == order[i] * 9, "message %u has %ld bytes", i, result);
		check(priority == priorities[order[i]], "message %u has priority %u", i, priority);
		memset(text, 'a' + order[i], sizeof(text));
		check(!memcmp(got + i % 2, text, result) && !got[i % 2 + result], "the text of message %u", i);
		check_mode(true);
	}
	check_entries(1);
}

/* The longest messages, from and to memory in several pages, in the queue that Linux makes so. */
void queue_longest(void)
{
	struct mq_attr attributes;
	char *memory = shared(1 << 20);
	unsigned int i, j, size;

	enter();
	queue = make_queue(0, 0, 0);
	check(!mq_getattr(queue, &attributes), "mq_getattr");
	size = attributes.mq_msgsize;
	to_primary();
	for (i = 0; i < (unsigned int)attributes.mq_maxmsg; i++) {
		for (j = 0; j < size; j++)
			memory[i + j] = i + j % 251;
		check(!queue_send(queue, memory + i, size - i, i, 0), "send");
		check_mode(true);
	}
	for (; i--;) {
		memset(memory, 0, 3 * size);
		check(queue_receive(queue, memory + i, size, NULL, 0) == size - i, "receive");
		check_mode(true);
		for (j = 0; j < size - i; j++)
			check(memory[i + j] == (char)(i + j % 251), "byte %u of message %u", j, i);
	}
	check_entries(1);
}

/* What Linux says to wrong arguments, and what ends a call that would wait. */
void queue_errors(void)
{
	struct timespec wrong = { .tv_nsec = SECOND };
	char text[SIZE + 1] = "text";
	unsigned int priority;
	int64_t begin;
	mqd_t reads, writes, other;

	enter();
	queue = make_named_queue(NAME, 2, SIZE, 0);
	reads = mq_open(NAME, O_RDONLY);
	writes = mq_open(NAME, O_WRONLY | O_NONBLOCK);
	check(reads >= 0 && writes >= 0 && !mq_unlink(NAME), "mq_open: %s", strerror(errno));
	to_primary();
	check(queue_send(writes, text, 4, 1, 0) == 0, "the first");
	check(queue_send(reads, text, 4, 1, 0) == -EBADF, "it is for reading");
	to_primary();
	check(queue_receive(writes, text, SIZE, NULL, 0) == -EBADF, "it is for writing");
	to_primary();
	check(queue_send(queue, text, SIZE + 1, 1, 0) == -EMSGSIZE, "too long");
	to_primary();
	check(queue_receive(queue, text, SIZE - 1, NULL, 0) == -EMSGSIZE, "no room");
	to_primary();
	check(queue_send(queue, text, 4, 32768, 0) == -EINVAL, "no such priority");
	to_primary();
	check(queue_send(999, text, 4, 1, 0) == -EBADF, "no such descriptor");
	to_primary();
	check(queue_send(queue, (void *)8, 4, 1, 0) == -EFAULT, "no text");
	to_primary();
	check(call(SYS_mq_timedsend, queue, (long)text, 4, 1, (long)&wrong, 0) == -EINVAL, "no time");
	to_primary();
	check(queue_send(queue, "late", 4, 0, 1) == 0, "a time that nobody waits for");
	check_mode(true);
	check(queue_send(writes, text, 4, 1, 0) == -EAGAIN, "it is full");
	check_mode(true);
	check(queue_send(queue, text, 4, 1, 1) == -ETIMEDOUT, "a time that has passed");
	check_mode(true);
	begin = now(CLOCK_REALTIME);
	check(queue_send(queue, text, 4, 1, begin + 20 * MILLISECOND) == -ETIMEDOUT, "a time to come");
	check(now(CLOCK_REALTIME) >= begin + 20 * MILLISECOND, "it ends early");
	check_mode(true);
	check(queue_receive(reads, text, SIZE, &priority, 0) == 4 && priority == 1, "the first");
	check(queue_receive(reads, text, SIZE, &priority, 0) == 4 && !memcmp(text, "late", 4), "the second");
	check(queue_receive(reads, text, SIZE, &priority, 1) == -ETIMEDOUT, "it is empty");
	check_mode(true);
	begin = now(CLOCK_REALTIME);
	check(queue_receive(queue, text, SIZE, NULL, begin + 20 * MILLISECOND) == -ETIMEDOUT, "a time to come");
	check(now(CLOCK_REALTIME) >= begin + 20 * MILLISECOND, "it ends early");
	check_mode(true);
	/* Its descriptor means another one at once. */
	other = make_queue(2, SIZE, O_NONBLOCK);
	check(dup2(other, reads) == reads, "dup2");
	to_primary();
	check(queue_receive(reads, text, SIZE, &priority, 0) == -EAGAIN, "it does not wait");
	check_mode(true);
	check(!mq_close(writes), "mq_close");
	to_primary();
	check(queue_send(writes, text, 4, 1, 0) == -EBADF, "it is closed");
	check_entries(1);
}

/* Flags and counts, which both sides see. */
void queue_attributes(void)
{
	struct mq_attr attributes = { .mq_flags = O_NONBLOCK, .mq_maxmsg = 99 }, before;
	char text[SIZE];

	enter();
	queue = make_queue(3, SIZE, 0);
	to_primary();
	sends(queue, 1, 0);
	sends(queue, 2, 0);
	check_mode(true);
	check(!mq_setattr(queue, &attributes, &before), "mq_setattr: %s", strerror(errno));
	check(!before.mq_flags && before.mq_curmsgs == 2 && before.mq_maxmsg == 3 && before.mq_msgsize == SIZE,
	      "flags %ld, %ld messages", before.mq_flags, before.mq_curmsgs);
	to_primary();
	check(received(queue) == 1 && received(queue) == 2, "messages");
	check(queue_receive(queue, text, SIZE, NULL, 0) == -EAGAIN, "it does not wait");
	check_mode(true);
	check(!mq_getattr(queue, &attributes) && attributes.mq_flags == O_NONBLOCK && !attributes.mq_curmsgs,
	      "flags %ld, %ld messages", attributes.mq_flags, attributes.mq_curmsgs);
	attributes.mq_flags = O_APPEND;
	check(mq_setattr(queue, &attributes, NULL) && errno == EINVAL, "another flag");
	check_entries(1);
}

static mqd_t there, back;
static volatile bool partner_leaves;

#define TURNS 200u

/* Sends back what comes, in Linux before each of its own waits if it is to be there. */
static void *answers(void *nothing)
{
	unsigned int i;

	(void)nothing;
	for (i = 0; i < TURNS; i++) {
		if (partner_leaves)
			to_linux();
		sends(back, received(there) + 1, 0);
	}
	return NULL;
}

/* Each side waits for the other one, in primary mode and in Linux: empty and full queues. */
void queue_turns(void)
{
	static const struct {
		int partner;
		bool leaves, partner_leaves;
	} turns[] = {
		{ PRIORITY + 1, false, false }, { PRIORITY - 1, false, false }, { 0, false, false },
		{ PRIORITY + 1, true, false }, { PRIORITY - 1, false, true }, { 0, true, true },
	};
	unsigned int i, turn;
	pthread_t other;
	uint64_t before;

	enter();
	there = make_queue(1, SIZE, 0);
	back = make_queue(1, SIZE, 0);
	for (turn = 0; turn < COUNT(turns); turn++) {
		partner_leaves = turns[turn].partner_leaves;
		other = begin_thread(turns[turn].partner, answers, NULL);
		to_primary();
		before = queue_calls_left();
		to_primary();
		for (i = 0; i < TURNS; i++) {
			if (turns[turn].leaves)
				to_linux();
			sends(there, i, 0);
			check(received(back) == i + 1, "turn %u", i);
			if (turns[turn].partner && !turns[turn].leaves)
				check_mode(true);
		}
		/* Those of who never leaves never go to Linux. */
		check(turns[turn].leaves || queue_calls_left() == before, "%llu calls went to Linux in turn %u",
		      (unsigned long long)(queue_calls_left() - before), turn);
		check(!pthread_join(other, NULL), "pthread_join");
	}
	/* What comes faster than it goes: the sender waits for room. */
	partner_leaves = false;
	for (turn = 0; turn < 2; turn++) {
		other = begin_thread(turn ? PRIORITY - 1 : 0, answers, NULL);
		to_primary();
		for (i = 0; i < TURNS; i++) {
			sends(there, i, 0);
			if (i > 1)
				check(received(back) == i - 1, "message %u", i);
		}
		check(received(back) == TURNS - 1 && received(back) == TURNS, "the last ones");
		check(!pthread_join(other, NULL), "pthread_join");
	}
	check_entries(2);
}

static int order[8];
static volatile unsigned int served;
static volatile pid_t waiter;

static void *waits_for_one(void *context)
{
	waiter = gettid();
	received(there);
	order[__atomic_fetch_add(&served, 1, __ATOMIC_SEQ_CST)] = (int)(intptr_t)context;
	return NULL;
}

/* The most urgent of those who wait comes first, and of equals who came first. */
void queue_order(void)
{
	static const int priorities[] = { PRIORITY + 2, PRIORITY + 5, PRIORITY + 3, PRIORITY + 5 };
	static const int expected[] = { 1, 3, 2, 0 };
	pthread_t threads[COUNT(priorities)];
	unsigned int i, round, turn;

	enter();
	there = make_queue(8, SIZE, 0);
	for (round = 0; round < 5; round++) {
		served = 0;
		for (i = 0; i < COUNT(priorities); i++) {
			threads[i] = begin_thread(priorities[i], waits_for_one, (void *)(intptr_t)i);
			await_sleep(&waiter);
		}
		to_primary();
		for (i = 0; i < COUNT(priorities); i++) {
			sends(there, i, 0);
			/* It runs at once, unless there is another processor. */
			for (turn = 0; is_native && served == i && turn < 1000; turn++)
				usleep(1000);
			check(served == i + 1, "message %u woke %u", i, served);
		}
		for (i = 0; i < COUNT(priorities); i++)
			check(order[i] == expected[i], "place %u: thread %d", i, order[i]);
		for (i = 0; i < COUNT(priorities); i++)
			check(!pthread_join(threads[i], NULL), "pthread_join");
	}
	check_entries(1);
}

static volatile int64_t arrived;

static void *notes_arrival(void *nothing)
{
	while (received(there))
		arrived = now(CLOCK_MONOTONIC);
	return nothing;
}

/* What it takes from a send until a more urgent thread that waits has the message, and until it
 * waits again. */
void queue_cost(void)
{
	static const int sizes[] = { 16, 8192 };
	static char text[8192];
	const unsigned int rounds = 200;
	int64_t costs[COUNT(sizes)][2];
	int64_t begin, sum = 0, longest = 0, least = SECOND, turns = 0;
	pthread_t other;
	unsigned int i;

	enter();
	there = make_queue(4, SIZE, 0);
	other = begin_thread(PRIORITY + 1, notes_arrival, NULL);
	for (i = 0; i < rounds; i++) {
		/* Within a budget. */
		to_primary();
		sleep_for(CLOCK_MONOTONIC, MILLISECOND, NULL);
		begin = now(CLOCK_MONOTONIC);
		sends(there, 1, 0);
		begin = arrived - begin;
		sum += begin;
		longest = begin > longest ? begin : longest;
		least = begin < least ? begin : least;
	}
	for (i = 0; i < rounds; i++) {
		sleep_for(CLOCK_MONOTONIC, MILLISECOND, NULL);
		begin = now(CLOCK_MONOTONIC);
		sends(there, 1, 0);
		turns += now(CLOCK_MONOTONIC) - begin;
	}
	for (i = 0; i < COUNT(sizes); i++) {
		mqd_t own = make_queue(10, 8192, 0);

		to_primary();
		sleep_for(CLOCK_MONOTONIC, 2 * MILLISECOND, NULL);
		begin = now(CLOCK_MONOTONIC);
		check(!queue_send(own, text, sizes[i], 0, 0), "send");
		costs[i][0] = now(CLOCK_MONOTONIC) - begin;
		begin = now(CLOCK_MONOTONIC);
		check(queue_receive(own, text, sizeof(text), NULL, 0) == sizes[i], "receive");
		costs[i][1] = now(CLOCK_MONOTONIC) - begin;
		check(!mq_close(own), "mq_close");
		tell("%d bytes that nobody waits for: sent in %lld ns, received in %lld", sizes[i], (long long)costs[i][0],
		     (long long)costs[i][1]);
	}
	tell("from a send to a thread that waits: %lld ns, %lld to %lld; the call as a whole: %lld ns",
	     (long long)sum / rounds, (long long)least, (long long)longest, (long long)turns / rounds);
	sends(there, 0, 0);
	check(!pthread_join(other, NULL), "pthread_join");
}

static volatile sig_atomic_t signals;

static void counts(int sig)
{
	(void)sig;
	signals++;
}

/* Sends its parent signals, then what the parent waits for. */
static void disturbs(void *kinds)
{
	const int *kind;
	pid_t parent = getppid();

	for (kind = kinds; *kind; kind++) {
		usleep(20000);
		check(!kill(parent, *kind), "kill");
	}
	usleep(20000);
	sends(queue, 7, 0);
	_exit(0);
}

/* A wait that a signal interrupts ends, or goes on, as in Linux. */
void queue_interrupted(void)
{
	static int handling[] = { SIGUSR1, 0 }, stopping[] = { SIGSTOP, SIGCONT, 0 };
	struct sigaction action = { .sa_handler = counts };
	char text[SIZE];
	unsigned int i;
	int64_t begin;
	pid_t child;

	enter();
	queue = make_queue(1, SIZE, 0);
	for (i = 0; i < 6; i++) {
		action.sa_flags = i % 2 ? SA_RESTART : 0;
		check(!sigaction(SIGUSR1, &action, NULL), "sigaction");
		signals = 0;
		child = spawn(disturbs, handling);
		if (i > 1)
			to_primary();
		if (!(i % 2))
			check(queue_receive(queue, text, SIZE, NULL, 0) == -EINTR && signals == 1, "%d signals",
			      (int)signals);
		check(received(queue) == 7 && signals == 1, "%d signals", (int)signals);
		check_mode(true);
		check(!status_of(child), "the child");
	}
	child = spawn(disturbs, stopping);
	check(received(queue) == 7, "after a stop");
	check(!status_of(child), "the child");
	/* The time stays what it was. */
	signals = 0;
	begin = now(CLOCK_REALTIME);
	child = spawn(disturbs, handling);
	check(queue_receive(queue, text, SIZE, NULL, begin + 30 * MILLISECOND) == -ETIMEDOUT && signals == 1,
	      "%d signals", (int)signals);
	check(now(CLOCK_REALTIME) >= begin + 30 * MILLISECOND, "it ends early");
	check(received(queue) == 7, "the end");
	check(!status_of(child), "the child");
	check_entries(6);
}
