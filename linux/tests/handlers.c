// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handlers of the task: it answers commands in upper case, and I/O controls with twice the number.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stall.h"
#include "test.h"

#define IOCTL_UNKNOWN _IO('t', 77)

/* Commands go in, answers come out of another FIFO through the same file. */
const char *test_pair(void)
{
	int fifo = rtf(FIFO_COMMANDS, O_NONBLOCK);
	char answer[32];

	CHECK(write(fifo, "hello", 5) == 5);
	/* The handler was done before write() returned. */
	CHECK(read(fifo, answer, sizeof(answer)) == 5 && !memcmp(answer, "HELLO", 5));
	CHECK(read(fifo, answer, sizeof(answer)) == 0);
	close(fifo);
	return NULL;
}

const char *test_handler_refuses(void)
{
	int fifo = rtf(FIFO_COMMANDS, O_NONBLOCK);
	char answer[32];

	CHECK(fails(write(fifo, "refuse", 6), EPERM));
	CHECK(read(fifo, answer, sizeof(answer)) == 0);
	close(fifo);
	return NULL;
}

const char *test_ioctl_number(void)
{
	int fifo = rtf(FIFO_IOCTL, 0);

	CHECK(ioctl(fifo, IOCTL_NEXT, 41) == 42);
	CHECK(fails(ioctl(fifo, IOCTL_UNKNOWN, 0), EINVAL));
	close(fifo);
	return NULL;
}

const char *test_ioctl_data(void)
{
	struct pair pair = { .number = 21 };
	int fifo = rtf(FIFO_IOCTL, 0);

	CHECK(ioctl(fifo, IOCTL_DOUBLE, &pair) == 7);
	CHECK(pair.number == 21 && pair.twice == 42);
	CHECK(fails(ioctl(fifo, IOCTL_DOUBLE, NULL), EFAULT));
	close(fifo);
	return NULL;
}

const char *test_ioctl_without_handler(void)
{
	int fifo = rtf(FIFO_PLAIN, 0);

	CHECK(ioctl(fifo, IOCTL_UNKNOWN, 0) == 0);
	close(fifo);
	return NULL;
}

/*
 * A signal ends the wait for an I/O control whose handler is running. That control's data and
 * result go to no other I/O control, neither through another file nor through the same one.
 */
const char *test_ioctl_left(void)
{
	static const int numbers[] = { FIFO_OTHER, FIFO_IOCTL };
	size_t i;

	for (i = 0; i < 2; i++) {
		struct pair left = { .number = 1 }, pair = { .number = 21 };
		int first = rtf(FIFO_IOCTL, 0), second = rtf(numbers[i], 0);
		long start = now();

		alarm_in(50);
		CHECK(fails(ioctl(first, IOCTL_SLOW, &left), EINTR));
		CHECK(now() - start < 250 && left.twice == 0);
		CHECK(ioctl(second, IOCTL_DOUBLE, &pair) == 7);
		CHECK(pair.number == 21 && pair.twice == 42);
		close(first);
		close(second);
	}
	return NULL;
}

static void *ioctl_stalling(void *stall)
{
	int fifo = rtf(FIFO_IOCTL, 0);
	long result = ioctl(fifo, IOCTL_DOUBLE, stall_page(stall));

	close(fifo);
	return (void *)result;
}

/* A process whose memory is slow to arrive does not hold up the I/O controls of others. */
const char *test_ioctl_stalls(void)
{
	struct pair pair = { .number = 21 };
	struct stall *stall = stall_open();
	int fifo = rtf(FIFO_OTHER, 0);
	pthread_t thread;
	void *result;

	CHECK(stall);
	CHECK(!pthread_create(&thread, NULL, ioctl_stalling, stall));
	CHECK(stall_begins(stall));
	alarm_in(500);
	CHECK(ioctl(fifo, IOCTL_DOUBLE, &pair) == 7 && pair.twice == 42);
	alarm_in(0);
	stall_end(stall);
	pthread_join(thread, &result);
	CHECK((long)result == 7);
	close(fifo);
	return NULL;
}

/*
 * With O_NONBLOCK nothing waits for a handler: the data it is called for has moved, and calls
 * before it is done are refused.
 */
const char *test_no_waiting(void)
{
	struct pair pair = { .number = 1 };
	int fifo = rtf(FIFO_SLOW, O_NONBLOCK), control = rtf(FIFO_IOCTL, O_NONBLOCK);
	struct pollfd file = { fifo, POLLOUT, 0 };
	long start = now();

	CHECK(write(fifo, "a", 1) == 1);
	CHECK(fails(write(fifo, "b", 1), EAGAIN));
	CHECK(poll(&file, 1, 0) == 0);
	CHECK(now() - start < 200);
	CHECK(poll(&file, 1, 2000) == 1 && file.revents == POLLOUT);
	CHECK(now() - start >= 290);
	CHECK(read(fifo, &pair, 1) == 1);
	start = now();
	CHECK(fails(ioctl(control, IOCTL_SLOW, &pair), EINPROGRESS));
	CHECK(fails(ioctl(control, IOCTL_NEXT, 1), EAGAIN));
	CHECK(now() - start < 200);
	close(fifo);
	close(control);
	/* A call that may wait waits for the earlier one. */
	control = rtf(FIFO_IOCTL, 0);
	CHECK(ioctl(control, IOCTL_NEXT, 1) == 2);
	close(control);
	return NULL;
}
