// SPDX-License-Identifier: GPL-2.0-only
/* What the task sends by itself: times, every 10 ms, and as many messages as fit. */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <poll.h>
#include <rtlinux_signal.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

#define IOCTL_BULK _IO('t', 3)
#define MESSAGE 4096

static unsigned char message[MESSAGE];

const char *test_poll(void)
{
	int plain = rtf(FIFO_PLAIN, O_NONBLOCK), times = rtf(FIFO_TIMES, O_NONBLOCK);
	struct pollfd files[] = { { plain, POLLIN | POLLOUT, 0 }, { times, POLLIN, 0 } };
	char bytes[PLAIN_SIZE];

	CHECK(poll(files, 1, 0) == 1 && files[0].revents == POLLOUT);
	CHECK(write(plain, bytes, PLAIN_SIZE) == PLAIN_SIZE);
	CHECK(poll(files, 1, 0) == 1 && files[0].revents == POLLIN);
	CHECK(read(plain, bytes, PLAIN_SIZE) == PLAIN_SIZE);
	while (read(times, bytes, sizeof(bytes)) > 0)
		;
	files[0].events = POLLIN;
	CHECK(poll(files, 2, 1000) == 1 && !files[0].revents && files[1].revents == POLLIN);
	close(plain);
	close(times);
	return NULL;
}

/* Programs that use POLLRDNORM or POLLWRNORM alone wake like others. */
const char *test_poll_normal(void)
{
	int plain = rtf(FIFO_PLAIN, O_NONBLOCK), times = rtf(FIFO_TIMES, O_NONBLOCK), control = rtf(FIFO_IOCTL, 0);
	struct pollfd reading = { times, POLLRDNORM, 0 }, writing = { plain, POLLWRNORM, 0 };
	char bytes[PLAIN_SIZE];

	/* No earlier waiter has left a request to be woken. */
	CHECK(write(plain, bytes, PLAIN_SIZE) == PLAIN_SIZE && !ioctl(control, IOCTL_TAKE));
	usleep(200000);
	while (read(times, bytes, sizeof(bytes)) > 0)
		;
	CHECK(poll(&reading, 1, 1000) == 1 && reading.revents == POLLRDNORM);
	CHECK(write(plain, bytes, PLAIN_SIZE) == PLAIN_SIZE);
	CHECK(poll(&writing, 1, 0) == 0);
	CHECK(!ioctl(control, IOCTL_TAKE));
	CHECK(poll(&writing, 1, 1000) == 1 && writing.revents == POLLWRNORM);
	close(plain);
	close(times);
	close(control);
	return NULL;
}

/* Lets the task send that many messages, each filled with its number; returns whether they came. */
static bool receive(int messages)
{
	int control = rtf(FIFO_IOCTL, 0), fifo = rtf(FIFO_BULK, 0);
	bool good = ioctl(control, IOCTL_BULK, messages) == 0;
	int i;

	for (i = 0; good && i < messages; i++)
		good = !pillion_fifo_read(fifo, message, MESSAGE) && message[0] == (i & 0xff) &&
		       !memcmp(message, message + 1, MESSAGE - 1);
	close(fifo);
	close(control);
	return good;
}

const char *test_bulk(void)
{
	CHECK(receive(300));
	return NULL;
}

/* Reads without checking the bytes, and prints how many ns a message took from the task. */
int throughput(int messages)
{
	int control = rtf(FIFO_IOCTL, 0), fifo = rtf(FIFO_BULK, 0);
	hrtime_t start = gethrtime();
	int i;

	if (ioctl(control, IOCTL_BULK, messages))
		return 1;
	for (i = 0; i < messages; i++)
		if (pillion_fifo_read(fifo, message, MESSAGE))
			return 1;
	printf("%lld ns for each message of %d bytes\n", (gethrtime() - start) / messages, MESSAGE);
	return 0;
}

/* Reads times at real-time priority; prints how long ago they were written. */
int latency(int rounds)
{
	struct sched_param param = { .sched_priority = 80 };
	hrtime_t sent, late, sum = 0, least = INT64_MAX, most = 0;
	int fifo = rtf(FIFO_TIMES, 0);
	int i;

	if (sched_setscheduler(0, SCHED_FIFO, &param) || mlockall(MCL_CURRENT | MCL_FUTURE) || gethrtime() < 0) {
		perror("latency");
		return 1;
	}
	for (i = -5; i < rounds; i++) {
		if (pillion_fifo_read(fifo, &sent, sizeof(sent)))
			return 1;
		late = gethrtime() - sent;
		/* The first ones may have waited, or find cold caches. */
		if (i < 0)
			continue;
		sum += late;
		least = late < least ? late : least;
		most = late > most ? late : most;
	}
	printf("%lld/%lld/%lld ns from rtf_put to read\n", least, rounds ? sum / rounds : 0, most);
	return 0;
}
