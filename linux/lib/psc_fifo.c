// SPDX-License-Identifier: GPL-2.0-only
/*
 * FIFOs of real-time signals' handlers. To other processes they are /dev/rtf0 to /dev/rtf63, like
 * those of tasks. A handler puts into the ring to Linux. It takes from the ring to the task, then
 * from the ring to Linux.
 */
#include "psc.h"
#include <errno.h>
#include <libpillion.h>
#include <pillion_psc.h>
#include <rtlinux_signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

/* How often to retry when something else took the bytes meanwhile. */
#define TRIES 8

#define PAGE 4096

static struct {
	uint64_t size;
	char *to_linux;
	char *to_task;
	/* Address and size of the FIFO's mapping. */
	struct pillion_fifo_control *control;
	size_t mapped;
} fifos[PILLION_CHANNEL_FIFOS];

static int resize(const struct psc_share *share, unsigned int number, uint32_t size)
{
	struct pillion_psc_ring ring = { .number = number, .size = size };

	return ioctl(share->device, PILLION_IOC_PSC_FIFO, &ring);
}

/* Maps a FIFO that was made: first its control words, then its rings. */
static int map(const struct psc_share *share, unsigned int number, uint32_t size)
{
	const struct pillion_fifo_entry *entry = &share->fifos[number];
	uint64_t to_linux = entry->to_linux - entry->control, to_task = entry->to_task - entry->control;
	size_t bytes = (to_task + size + PAGE - 1) / PAGE * PAGE;
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, share->device,
			  (off_t)number << PILLION_PSC_FIFO_SHIFT);

	if (base == MAP_FAILED)
		return -1;
	fifos[number].control = base;
	fifos[number].mapped = bytes;
	fifos[number].to_linux = (char *)base + to_linux;
	fifos[number].to_task = (char *)base + to_task;
	fifos[number].size = size;
	return 0;
}

int rtf_create(unsigned int number, int size)
{
	const struct psc_share *share;

	if (number >= PILLION_CHANNEL_FIFOS || size <= 0) {
		errno = EINVAL;
		return -1;
	}
	share = psc_share();
	if (!share || resize(share, number, size))
		return -1;
	if (!map(share, number, size))
		return 0;
	resize(share, number, 0);
	return -1;
}

int rtf_destroy(unsigned int number)
{
	const struct psc_share *share;

	if (number >= PILLION_CHANNEL_FIFOS || !fifos[number].size) {
		errno = EINVAL;
		return -1;
	}
	share = psc_share();
	if (!share)
		return -1;
	fifos[number].size = 0;
	munmap(fifos[number].control, fifos[number].mapped);
	return resize(share, number, 0);
}

/* The reason why a handler cannot use the FIFO, or 0. */
static int refuse(unsigned int number, int count)
{
	if (!psc_in_handler())
		return -EPERM;
	if (number >= PILLION_CHANNEL_FIFOS || count < 0)
		return -EINVAL;
	return fifos[number].size ? 0 : -ENODEV;
}

/*
 * Makes Linux check the FIFO if it waits for that. The fence pairs with the one between Linux's
 * request and its last check.
 */
static void tell(unsigned int number, uint32_t *want)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(want, __ATOMIC_RELAXED) && __atomic_exchange_n(want, 0, __ATOMIC_ACQ_REL))
		psc_ring(number);
}

int rtf_put(unsigned int number, const void *bytes, int count)
{
	struct pillion_fifo_control *control;
	uint64_t written, used, size, at, first;
	int error = refuse(number, count);

	if (error)
		return error;
	control = fifos[number].control;
	size = fifos[number].size;
	written = control->to_linux_written;
	used = written - __atomic_load_n(&control->to_linux_read, __ATOMIC_ACQUIRE);
	if (used > size || (uint64_t)count > size - used)
		return -ENOSPC;
	at = written % size;
	first = size - at < (uint64_t)count ? size - at : (uint64_t)count;
	memcpy(fifos[number].to_linux + at, bytes, first);
	memcpy(fifos[number].to_linux, (const char *)bytes + first, count - first);
	__atomic_store_n(&control->to_linux_written, written + count, __ATOMIC_RELEASE);
	tell(number, &control->want_data);
	return count;
}

/* Takes up to `count` bytes from a ring. */
static int take(const char *ring, uint64_t size, const uint64_t *written, uint64_t *read, char *bytes, int count)
{
	uint64_t from, used, at, first;
	int i;

	for (i = 0; i < TRIES; i++) {
		from = __atomic_load_n(read, __ATOMIC_ACQUIRE);
		used = __atomic_load_n(written, __ATOMIC_ACQUIRE) - from;
		if (used > size)
			continue;
		if (used < (uint64_t)count)
			count = used;
		at = from % size;
		first = size - at < (uint64_t)count ? size - at : (uint64_t)count;
		memcpy(bytes, ring + at, first);
		memcpy(bytes + first, ring, count - first);
		if (__atomic_compare_exchange_n(read, &from, from + count, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return count;
	}
	return 0;
}

int rtf_get(unsigned int number, void *bytes, int count)
{
	struct pillion_fifo_control *control;
	int theirs, ours, error = refuse(number, count);

	if (error)
		return error;
	control = fifos[number].control;
	theirs = take(fifos[number].to_task, fifos[number].size, &control->to_task_written, &control->to_task_read, bytes, count);
	ours = take(fifos[number].to_linux, fifos[number].size, &control->to_linux_written, &control->to_linux_read,
		    (char *)bytes + theirs, count - theirs);
	if (theirs + ours)
		tell(number, &control->want_room);
	return theirs + ours;
}
