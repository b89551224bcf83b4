// SPDX-License-Identifier: GPL-2.0-only
/* Handlers of the task: it answers commands in capitals, and I/O controls with their double. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "test.h"

#define IOCTL_UNKNOWN _IO('t', 77)

/* The commands go in, the answers come out of another FIFO behind the same file: what was written cannot be read. */
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
