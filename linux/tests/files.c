// SPDX-License-Identifier: GPL-2.0-only
/* What /dev/rtf* do without the task: opening, reading and writing a FIFO that it only made. */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static char bytes[4 * PLAIN_SIZE];

const char *test_open(void)
{
	int first = rtf(FIFO_PLAIN, 0), second;

	CHECK(fails(pillion_fifo_open(FIFO_NOT_MADE, O_RDWR), ENODEV));
	second = rtf(FIFO_PLAIN, O_NONBLOCK);
	close(first);
	close(second);
	return NULL;
}

/* Opens the FIFO in another process; returns the error. */
static int open_elsewhere(void)
{
	pid_t child = fork();
	int status = -1;

	if (!child)
		_exit(pillion_fifo_open(FIFO_PLAIN, O_RDONLY) < 0 ? errno : 0);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

const char *test_one_process(void)
{
	int fifo = rtf(FIFO_PLAIN, 0);

	CHECK(open_elsewhere() == EACCES);
	close(fifo);
	CHECK(open_elsewhere() == 0);
	return NULL;
}

const char *test_no_seeking(void)
{
	int fifo = rtf(FIFO_PLAIN, 0);

	CHECK(fails(lseek(fifo, 0, SEEK_SET), ESPIPE));
	CHECK(fails(pread(fifo, bytes, 1, 0), ESPIPE));
	close(fifo);
	return NULL;
}

const char *test_read_empty(void)
{
	int fifo = rtf(FIFO_PLAIN, O_NONBLOCK);

	CHECK(read(fifo, bytes, 10) == 0);
	close(fifo);
	return NULL;
}

/* A message that fits into the FIFO goes in whole or not; a process can read its own back. */
const char *test_write_whole(void)
{
	int fifo = rtf(FIFO_PLAIN, O_NONBLOCK);

	CHECK(write(fifo, "0123456789", 10) == 10);
	CHECK(fails(write(fifo, bytes, PLAIN_SIZE - 9), EAGAIN));
	CHECK(write(fifo, bytes, PLAIN_SIZE - 10) == PLAIN_SIZE - 10);
	CHECK(fails(write(fifo, "x", 1), EAGAIN));
	CHECK(read(fifo, bytes, 4) == 4 && !memcmp(bytes, "0123", 4));
	CHECK(read(fifo, bytes, sizeof(bytes)) == PLAIN_SIZE - 4 && !memcmp(bytes, "456789", 6));
	CHECK(read(fifo, bytes, sizeof(bytes)) == 0);
	close(fifo);
	return NULL;
}

/* A longer one goes in as far as it fits. */
const char *test_write_pieces(void)
{
	int fifo = rtf(FIFO_PLAIN, O_NONBLOCK);

	CHECK(write(fifo, "a", 1) == 1);
	CHECK(write(fifo, bytes, PLAIN_SIZE + 1) == PLAIN_SIZE - 1);
	CHECK(fails(write(fifo, bytes, PLAIN_SIZE + 1), EAGAIN));
	CHECK(read(fifo, bytes, sizeof(bytes)) == PLAIN_SIZE);
	close(fifo);
	return NULL;
}

/* Whether the task reports that a FIFO is open, so that it cannot end it. */
static bool is_held(int control, int number)
{
	return fails(ioctl(control, IOCTL_DESTROY, number), EINVAL);
}

/*
 * A FIFO whose size changes stays the same FIFO: open files continue to use it, whether it is the
 * task's own or one that tasks share.
 */
const char *test_resize(void)
{
	static const int numbers[] = { FIFO_PLAIN, FIFO_SHARED };
	int control = rtf(FIFO_IOCTL, 0);
	size_t i;

	for (i = 0; i < 2; i++) {
		int fifo = rtf(numbers[i], O_NONBLOCK);

		CHECK(write(fifo, "lost", 4) == 4);
		CHECK(!ioctl(control, IOCTL_RESIZE, numbers[i] << 16 | 16));
		CHECK(read(fifo, bytes, 10) == 0);
		CHECK(write(fifo, bytes, 17) == 16);
		CHECK(read(fifo, bytes, sizeof(bytes)) == 16);
		CHECK(is_held(control, numbers[i]));
		CHECK(!ioctl(control, IOCTL_RESIZE, numbers[i] << 16 | PLAIN_SIZE));
		CHECK(write(fifo, bytes, PLAIN_SIZE) == PLAIN_SIZE);
		CHECK(read(fifo, bytes, sizeof(bytes)) == PLAIN_SIZE);
		close(fifo);
	}
	CHECK(!ioctl(control, IOCTL_DESTROY, FIFO_SHARED));
	close(control);
	return NULL;
}

static void *write_long(void *fifo)
{
	return (void *)write(*(int *)fifo, bytes, 3 * PLAIN_SIZE);
}

/* Without O_NONBLOCK everything goes in, as fast as it is taken out. */
const char *test_write_waits(void)
{
	int fifo = rtf(FIFO_PLAIN, 0);
	pthread_t writer;
	void *written;
	char into[16];
	int got = 0;

	CHECK(!pthread_create(&writer, NULL, write_long, &fifo));
	while (got < 3 * PLAIN_SIZE)
		got += read(fifo, into, sizeof(into));
	pthread_join(writer, &written);
	CHECK((long)written == 3 * PLAIN_SIZE && got == 3 * PLAIN_SIZE);
	close(fifo);
	return NULL;
}

const char *test_fionread(void)
{
	int fifo = rtf(FIFO_PLAIN, O_NONBLOCK);
	int count = -1;

	CHECK(write(fifo, "abc", 3) == 3);
	CHECK(!ioctl(fifo, FIONREAD, &count) && count == 3);
	CHECK(read(fifo, bytes, 3) == 3);
	CHECK(!ioctl(fifo, FIONREAD, &count) && count == 0);
	close(fifo);
	return NULL;
}

/* A signal ends a waiting read. */
const char *test_signal(void)
{
	int fifo = rtf(FIFO_PLAIN, 0);
	long start = now();

	alarm_in(150);
	CHECK(fails(read(fifo, bytes, 1), EINTR));
	CHECK(now() - start >= 149);
	close(fifo);
	return NULL;
}
