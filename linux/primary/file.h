/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects that a program knows by descriptors. A descriptor is one of Linux's, so that no other
 * file has its number; what is done with it is done here.
 */
#ifndef PRIMARY_FILE_H
#define PRIMARY_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "list.h"
#include "moment.h"
#include "wait.h"

struct primary_file;

/* What can be done with a file. All of it is called under the lock. */
struct primary_file_kind {
	/* The events that it has now, as `poll` names them. */
	unsigned int (*events)(struct primary_file *file);
	/* When it has others by itself; NULL: never. */
	struct primary_end (*changes)(struct primary_file *file);
	/* Nobody uses it any more. */
	void (*ends)(struct primary_file *file);
	/* No descriptor leads to it any more; those that wait for it are to be woken. */
	void (*closes)(struct primary_file *file);
};

/* A part of each object with a descriptor. */
struct primary_file {
	const struct primary_file_kind *kind;
	/* One for the descriptor, and one for each operation. */
	unsigned int references;
	int number;
	/* O_NONBLOCK, or 0. */
	int flags;
	struct link watches;
};

/* Gives a file a descriptor. Returns that, or the negative number of an error. */
int primary_open(struct primary_file *file, const struct primary_file_kind *kind, int flags);
/* The same with a descriptor that Linux has. */
int primary_adopt(struct primary_file *file, const struct primary_file_kind *kind, int number);
/* Whether a descriptor is that of such a file, as far as one can say without the lock. */
bool primary_is_file(int number);
/* The file of a descriptor, of that kind, or of any if it is NULL; to be put. Under the lock. */
struct primary_file *primary_get(int number, const struct primary_file_kind *kind);
void primary_put(struct primary_file *file);
/* Closes a descriptor. Returns 0 or -EBADF. */
int primary_close(int number);

/* Something of a file that others may wait for changed; under the lock. */
void primary_changed(struct primary_file *file);

/* A file that is waited for, with the events that are wanted, and those that it has. */
struct primary_watch {
	struct link link;
	struct primary_file *file;
	struct primary_wait *wait;
	unsigned int wanted;
	unsigned int events;
};

/*
 * Waits until a file has an event that is wanted, under the lock. Returns how many have one, 0 when
 * the time is over, or the negative number of an error.
 */
int primary_poll(struct primary_watch *watches, unsigned int count, struct primary_end end);

#endif
