/* SPDX-License-Identifier: GPL-2.0-only */
/* Descriptors of this library's: timers, message queues, sockets. */
#ifndef COBALT_FILE_H
#define COBALT_FILE_H

#include "primary/file.h"

/*
 * What can be done with one, under the lock. Results are a number, or the negative number of an
 * error; NULL: it cannot be done (EINVAL).
 */
struct cobalt_kind {
	struct primary_file_kind file;
	ssize_t (*read)(struct primary_file *file, void *buffer, size_t size);
	ssize_t (*write)(struct primary_file *file, const void *buffer, size_t size);
	int (*ioctl)(struct primary_file *file, unsigned long request, void *argument);
};

static inline const struct cobalt_kind *cobalt_kind_of(const struct primary_file *file)
{
	return holder_of(file->kind, struct cobalt_kind, file);
}

/* When an operation on a file ends that may not wait, or may wait that long. */
static inline struct primary_end cobalt_end(const struct primary_file *file, struct primary_end end)
{
	return file->flags ? PRIMARY_TRY : end;
}

/* Gives up a file after an operation that was cancelled. */
void cobalt_put_cancelled(void *file);

#endif
