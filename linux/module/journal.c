// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines that tasks printed, for `pillion dmesg`: a ring of text. Byte n of all that was ever
 * added is at n % SIZE; an open file's offset is the number of the next byte to read.
 */
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "journal.h"

#define SIZE 131072
#define LINE 320

/* Most bytes read at a time. */
#define PIECE 1024

static char journal[SIZE];
static u64 added;
static DEFINE_MUTEX(lock);
static DECLARE_WAIT_QUEUE_HEAD(more);

/* Adds a line, with the time stamp of Linux's log. */
void journal_add(const char *task, const char *text)
{
	char line[LINE];
	u32 nanoseconds;
	u64 seconds = div_u64_rem(ktime_get_ns(), NSEC_PER_SEC, &nanoseconds);
	int i, length;

	length = scnprintf(line, sizeof(line), "[%5llu.%06u] %s: %s\n", (unsigned long long)seconds,
			   nanoseconds / 1000, task, text);
	mutex_lock(&lock);
	for (i = 0; i < length; i++)
		journal[(added + i) % SIZE] = line[i];
	WRITE_ONCE(added, added + length);
	mutex_unlock(&lock);
	wake_up_interruptible(&more);
}

/* The first byte that an open file can read: after a gap, the start of the first whole line. */
static u64 first(u64 offset)
{
	u64 at = added - SIZE;

	if (added <= SIZE || offset >= at)
		return min(offset, added);
	while (at < added && journal[at % SIZE] != '\n')
		at++;
	return min(at + 1, added);
}

/*
 * Copies a piece, up to the end of the ring. Access to a process's memory may take forever, so
 * nothing is copied to it under the lock.
 */
static ssize_t copy(char __user *buffer, size_t count, loff_t *offset)
{
	char piece[PIECE];
	size_t size;
	u64 at;

	if (mutex_lock_interruptible(&lock))
		return -ERESTARTSYS;
	at = first(*offset);
	size = min3(min_t(u64, count, PIECE), added - at, SIZE - at % SIZE);
	memcpy(piece, journal + at % SIZE, size);
	mutex_unlock(&lock);
	if (copy_to_user(buffer, piece, size))
		return -EFAULT;
	*offset = at + size;
	return size;
}

ssize_t journal_read(struct file *file, char __user *buffer, size_t count, loff_t *offset)
{
	ssize_t size = copy(buffer, count, offset);

	while (!size && count && !(file->f_flags & O_NONBLOCK)) {
		if (wait_event_interruptible(more, READ_ONCE(added) > *offset))
			return -ERESTARTSYS;
		size = copy(buffer, count, offset);
	}
	return size;
}

__poll_t journal_poll(struct file *file, poll_table *table)
{
	poll_wait(file, &more, table);
	return READ_ONCE(added) > file->f_pos ? EPOLLIN | EPOLLRDNORM : 0;
}
