// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that faults while processes have FIFOs of it open, and comes back:
 * rt/tests/programs/linux-fault.c, which faults as soon as something is written to its first FIFO,
 * and never takes anything out of its second one.
 */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

#define TASK "linux-fault"
#define FIFO_FAULTS 0
#define FIFO_FULL 1
#define SIZE 64

static void *poll_full(void *file)
{
	return (void *)(long)poll(file, 1, 5000);
}

/* A process that waits for room in a FIFO learns that nothing makes any. */
static const char *dies(int full)
{
	struct pollfd file = { full, POLLOUT, 0 };
	int faults = rtf(FIFO_FAULTS, 0);
	char bytes[SIZE] = "";
	pthread_t thread;
	long start = now();
	void *result;

	CHECK(write(full, bytes, SIZE) == SIZE);
	CHECK(poll(&file, 1, 0) == 0);
	CHECK(!pthread_create(&thread, NULL, poll_full, &file));
	usleep(100000);
	(void)!write(faults, "x", 1);
	pthread_join(thread, &result);
	CHECK((long)result == 1 && file.revents == (POLLERR | POLLHUP) && now() - start < 4000);
	CHECK(poll(&file, 1, 0) == 1 && file.revents == (POLLERR | POLLHUP));
	CHECK(fails(write(full, bytes, 1), EIO));
	close(faults);
	return NULL;
}

/* Whether the task's control words say that the FIFO is open. */
static bool is_open(void)
{
	struct pillion_view *view = pillion_view_open();
	int task = pillion_task_find(view, TASK);
	bool open = pillion_task_fifo(view, task, FIFO_FULL)->opens;

	pillion_view_close(view);
	return open;
}

/* The file from before is useless, and does not count, whenever it is closed. */
static const char *comes_back(int stale)
{
	struct pollfd file = { stale, POLLOUT, 0 };
	int fifo;

	CHECK(!pillion_unload(TASK));
	CHECK(!pillion_load(TASK, NULL));
	CHECK(fails(write(stale, "x", 1), ENODEV));
	CHECK(poll(&file, 1, 0) == 1 && file.revents == (POLLERR | POLLHUP));
	CHECK(!is_open());
	fifo = rtf(FIFO_FULL, O_NONBLOCK);
	file.fd = fifo;
	CHECK(write(fifo, "x", 1) == 1);
	CHECK(poll(&file, 1, 0) == 1 && file.revents == POLLOUT);
	CHECK(is_open());
	close(fifo);
	CHECK(!is_open());
	close(stale);
	CHECK(!is_open());
	return NULL;
}

int dead(void)
{
	int full = rtf(FIFO_FULL, O_NONBLOCK);
	const char *why = dies(full);

	if (!why)
		why = comes_back(full);
	if (why)
		fprintf(stderr, "not so: %s\n", why);
	return !!why;
}
