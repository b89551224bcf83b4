// SPDX-License-Identifier: GPL-2.0-only
/* Files that both sides read and write: what their descriptors mean, and who else uses them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "files.h"
#include "test.h"

struct pair pair;

long take(int file, uint64_t *value)
{
	return call(SYS_read, file, (long)value, sizeof(*value), 0, 0, 0);
}

long add(int file, uint64_t value)
{
	return call(SYS_write, file, (long)&value, sizeof(value), 0, 0, 0);
}

uint64_t taken(int file)
{
	uint64_t value = 0;
	long result = take(file, &value);

	check(result == sizeof(value), "read: %ld", result);
	return value;
}

void gives(int file, uint64_t value)
{
	long result = add(file, value);

	check(result == sizeof(value), "write: %ld", result);
}

void check_mode(bool primary)
{
	check(is_native || is_primary() == primary, "it is %sin primary mode", primary ? "not " : "");
}

int event(unsigned int count, int flags)
{
	int file = eventfd(count, flags);

	check(file >= 0, "eventfd: %s", strerror(errno));
	return file;
}

int timer(clockid_t clock, int flags)
{
	int file = timerfd_create(clock, flags);

	check(file >= 0, "timerfd_create: %s", strerror(errno));
	return file;
}

void arm(int file, int flags, int64_t first, int64_t interval)
{
	struct itimerspec time = { .it_value = timespec_of(first), .it_interval = timespec_of(interval) };

	check(!timerfd_settime(file, flags, &time, NULL), "timerfd_settime: %s", strerror(errno));
}

bool is_readable(int file)
{
	struct pollfd poll_file = { .fd = file, .events = POLLIN };

	check(poll(&poll_file, 1, 0) >= 0, "poll: %s", strerror(errno));
	return poll_file.revents & POLLIN;
}

static void *closes(void *over)
{
	usleep(20000);
	check(!close(pair.files[0]), "close");
	if (over)
		check(dup2(*(int *)over, pair.files[0]) == pair.files[0], "dup2");
	pair.done = 1;
	usleep(20000);
	if (pair.files[1] >= 0)
		gives(pair.files[1], 9);
	return NULL;
}

/* A descriptor means what Linux says, at each call; who waits goes on with the file. */
void files_closed(void)
{
	int64_t begin;
	uint64_t value;
	pthread_t other;
	int another;

	enter();
	/* By another descriptor of the same file, it goes on. */
	pair.files[0] = event(0, 0);
	pair.files[1] = dup(pair.files[0]);
	other = begin_thread(PRIORITY + 1, closes, NULL);
	check(taken(pair.files[0]) == 9, "what was written to the other descriptor");
	check(take(pair.files[0], &value) == -EBADF, "it is closed");
	check(!pthread_join(other, NULL), "pthread_join");
	close(pair.files[1]);
	/* The last descriptor of a timer. */
	pair.files[0] = timer(CLOCK_MONOTONIC, 0);
	pair.files[1] = -1;
	pair.done = 0;
	another = event(4, 0);
	begin = now(CLOCK_MONOTONIC);
	arm(pair.files[0], 0, 100 * MILLISECOND, 0);
	other = begin_thread(PRIORITY + 1, closes, &another);
	check(taken(pair.files[0]) == 1 && pair.done, "a timer that is closed");
	check(now(CLOCK_MONOTONIC) >= begin + 100 * MILLISECOND, "it ends early");
	to_primary();
	check(taken(pair.files[0]) == 4, "what the descriptor means now");
	check_mode(true);
	gives(pair.files[0], 4);
	check(!pthread_join(other, NULL), "pthread_join");
	/* Many descriptors: the table is another one. */
	check(dup2(another, 500) == 500, "dup2");
	to_primary();
	check(taken(500) == 4 && add(501, 1) == -EBADF, "a high descriptor");
	gives(another, 1);
	check(taken(500) == 1, "the same file");
	check(!close(500), "close");
	to_primary();
	check(take(500, &value) == -EBADF, "it is closed");
	check_entries(1);
}

/* Another process uses the same files: one that is not marked. */
void files_shared(void)
{
	pid_t child;
	int status, tick, i;

	enter();
	for (i = 0; i < 3; i++) {
		pair.files[0] = event(0, 0);
		pair.files[1] = event(0, 0);
		tick = timer(CLOCK_MONOTONIC, 0);
		arm(tick, 0, MICROSECOND, 10 * MILLISECOND);
		to_primary();
		child = fork();
		if (!child) {
			uint64_t sum;

			usleep(20000);
			check(!is_readable(pair.files[0]), "it is readable");
			gives(pair.files[0], 5);
			check(taken(pair.files[1]) == 6, "what the parent wrote");
			for (sum = 0; sum < 5; sum += taken(tick)) {
			}
			arm(tick, 0, 20 * MILLISECOND, 0);
			_exit(0);
		}
		check(child > 0, "fork");
		check(taken(pair.files[0]) == 5, "what the child wrote");
		check_mode(true);
		gives(pair.files[1], 6);
		close(pair.files[0]);
		close(pair.files[1]);
		to_primary();
		status = status_of(child);
		check(!status, "the child's status is %x", status);
		/* The child has set it. */
		check(taken(tick) == 1, "the timer");
		check_mode(true);
		close(tick);
	}
	check_entries(3);
}

static volatile sig_atomic_t signals;

static void counts(int sig)
{
	(void)sig;
	signals++;
}

/* What ends a wait for the first file of the pair, and is read then. */
static struct {
	const void *bytes;
	size_t size;
} end;

/* Sends signals to its parent, then ends the wait of the parent. */
static void disturbs(const int *kinds)
{
	pid_t parent = getppid();

	for (; *kinds; kinds++) {
		usleep(20000);
		check(!kill(parent, *kinds), "kill");
	}
	usleep(20000);
	check(write(pair.files[0], end.bytes, end.size) == (ssize_t)end.size, "write");
	_exit(0);
}

static pid_t disturb(const int *kinds)
{
	pid_t child = fork();

	if (!child)
		disturbs(kinds);
	check(child > 0, "fork");
	return child;
}

static bool is_end(void)
{
	char got[sizeof(uint64_t)];

	check(call(SYS_read, pair.files[0], (long)got, end.size, 0, 0, 0) == (long)end.size, "read");
	return !memcmp(got, end.bytes, end.size);
}

static const int handling[] = { SIGUSR1, 0 }, stopping[] = { SIGSTOP, SIGCONT, 0 };

void interrupted(unsigned int rounds, const void *bytes, size_t size)
{
	struct sigaction action = { .sa_handler = counts };
	uint64_t value;
	unsigned int i;
	pid_t child;

	end.bytes = bytes;
	end.size = size;
	for (i = 0; i < rounds; i++) {
		action.sa_flags = i % 2 ? SA_RESTART : 0;
		check(!sigaction(SIGUSR1, &action, NULL), "sigaction");
		signals = 0;
		child = disturb(handling);
		if (i > 1)
			to_primary();
		if (!(i % 2))
			check(call(SYS_read, pair.files[0], (long)&value, size, 0, 0, 0) == -EINTR && signals == 1,
			      "%d signals", (int)signals);
		check(is_end() && signals == 1, "%d signals", (int)signals);
		check_mode(true);
		check(!status_of(child), "the child");
	}
	/* Who is stopped goes on. */
	child = disturb(stopping);
	check(is_end(), "after a stop");
	check(!status_of(child), "the child");
}

/* A read that a signal interrupts ends, or is made again, as in Linux. */
void files_interrupted(void)
{
	struct sigaction action = { .sa_handler = counts, .sa_flags = SA_RESTART };
	uint64_t two = 2;
	unsigned int i;
	pid_t child;
	int tick;

	enter();
	pair.files[0] = event(0, 0);
	interrupted(6, &two, sizeof(two));
	/* A timer goes on, too. */
	for (i = 0; i < 2; i++) {
		tick = timer(CLOCK_MONOTONIC, 0);
		check(!sigaction(SIGUSR1, &action, NULL), "sigaction");
		signals = 0;
		arm(tick, 0, 100 * MILLISECOND, 0);
		child = disturb(i ? stopping : handling);
		check(taken(tick) == 1 && signals == !i, "%d signals", (int)signals);
		check(taken(pair.files[0]) == 2, "the end");
		check(!status_of(child), "the child");
		close(tick);
	}
	check_entries(6);
}

/* What only Linux can do with a file leaves it to Linux, with what is in it. */
void files_left(void)
{
	struct iocb request, *requests[] = { &request };
	struct itimerspec time = { .it_interval = timespec_of(SECOND) };
	char byte[1];
	aio_context_t context = 0;
	struct io_event done;
	int file, data;
	pid_t child;

	enter();
	/* Asynchronous I/O adds to an eventfd. */
	file = event(2, 0);
	to_primary();
	gives(file, 1);
	check_mode(true);
	data = open("/dev/zero", O_RDONLY);
	check(!syscall(SYS_io_setup, 1, &context), "io_setup: %s", strerror(errno));
	request = (struct iocb){
		.aio_fildes = data, .aio_lio_opcode = IOCB_CMD_PREAD, .aio_buf = (uintptr_t)byte, .aio_nbytes = 1,
		.aio_flags = IOCB_FLAG_RESFD, .aio_resfd = file,
	};
	check(syscall(SYS_io_submit, context, 1, requests) == 1, "io_submit: %s", strerror(errno));
	check(syscall(SYS_io_getevents, context, 1, 1, &done, NULL) == 1 && done.res == 1, "io_getevents");
	check(is_readable(file) && taken(file) == 4, "what was there, and what Linux added");
	gives(file, 3);
	to_primary();
	check(taken(file) == 3 && !is_readable(file), "a write and a read");
	/* A timer that is to end when its clock is set. */
	close(file);
	file = timer(CLOCK_REALTIME, 0);
	arm(file, 0, 10 * SECOND, SECOND);
	time.it_value = timespec_of(now(CLOCK_REALTIME) + 20 * MILLISECOND);
	check(!timerfd_settime(file, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &time, &time), "timerfd_settime");
	check(ns_of(time.it_value) > 9 * SECOND && ns_of(time.it_interval) == SECOND, "what it was before");
	to_primary();
	check(taken(file) == 1, "it expires");
	check(!timerfd_gettime(file, &time) && ns_of(time.it_interval) == SECOND, "what it is now");
	child = fork();
	if (!child) {
		struct timespec real;

		usleep(20000);
		clock_gettime(CLOCK_REALTIME, &real);
		real.tv_sec += 100;
		check(!clock_settime(CLOCK_REALTIME, &real), "clock_settime");
		_exit(0);
	}
	check(take(file, (uint64_t[1]){ 0 }) == -ECANCELED, "its clock was set");
	check(!status_of(child), "the child");
	arm(file, 0, MILLISECOND, 0);
	check(taken(file) == 1, "it is a timer still");
	check_entries(1);
}

/* More files than both sides can share are Linux's. */
void files_many(void)
{
	int events[200], ticks[20];
	unsigned int i;
	uint64_t value;

	enter();
	to_primary();
	for (i = 0; i < COUNT(events); i++)
		events[i] = event(i + 1, i % 2 ? EFD_SEMAPHORE : 0);
	for (i = 0; i < COUNT(ticks); i++) {
		ticks[i] = timer(CLOCK_MONOTONIC, TFD_NONBLOCK);
		arm(ticks[i], 0, MICROSECOND, 0);
	}
	for (i = 0; i < COUNT(events); i++) {
		to_primary();
		gives(events[i], 1);
		value = taken(events[i]);
		check(value == (i % 2 ? 1 : i + 2), "eventfd %u had %llu", i, (unsigned long long)value);
	}
	for (i = 0; i < COUNT(ticks); i++)
		check(taken(ticks[i]) == 1, "timerfd %u", i);
	for (i = 0; i < COUNT(events); i++)
		check(!close(events[i]), "close");
	/* What is free again is shared again. */
	events[0] = event(9, 0);
	to_primary();
	check(taken(events[0]) == 9, "a new one");
	check_mode(true);
	check_entries(1);
}
