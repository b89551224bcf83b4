// SPDX-License-Identifier: GPL-2.0-only
/* FIFOs. */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <stdio.h>
#include <unistd.h>

static bool used(const uint64_t *written, const uint64_t *read, uint64_t size, uint64_t *fill)
{
	uint64_t taken = __atomic_load_n(read, __ATOMIC_ACQUIRE);

	*fill = __atomic_load_n(written, __ATOMIC_ACQUIRE) - taken;
	return *fill <= size;
}

bool pillion_fifo_fill(const struct pillion_fifo_entry *entry, const struct pillion_fifo_control *control,
		       struct pillion_fifo_fill *fill)
{
	return used(&control->to_linux_written, &control->to_linux_read, entry->size, &fill->to_linux) &&
	       used(&control->to_task_written, &control->to_task_read, entry->size, &fill->to_task);
}

int pillion_fifo_open(unsigned int number, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/rtf%u", number);
	return open(path, flags);
}

int pillion_fifo_read(int fifo, void *buffer, size_t size)
{
	ssize_t part;
	size_t done;

	for (done = 0; done < size; done += part) {
		part = read(fifo, (char *)buffer + done, size - done);
		if (part < 0 && errno == EINTR)
			part = 0;
		else if (part <= 0)
			return -1;
	}
	return 0;
}

int pillion_fifo_write(int fifo, const void *buffer, size_t size)
{
	ssize_t part;
	size_t done;

	for (done = 0; done < size; done += part) {
		part = write(fifo, (const char *)buffer + done, size - done);
		if (part < 0 && errno == EINTR)
			part = 0;
		else if (part <= 0)
			return -1;
	}
	return 0;
}
