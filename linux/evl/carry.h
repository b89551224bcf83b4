/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes between threads in primary mode and files of Linux's. A thread of Linux carries them in one
 * direction, with a reference to the object that they belong to. The lock guards all of it.
 */
#ifndef EVL_CARRY_H
#define EVL_CARRY_H

#include <semaphore.h>

#include "object.h"
#include "primary/buffer.h"

struct evl_carrier {
	struct evl_object *object;
	struct primary_buffer buffer;
	int file;
	/* What is written at once is a multiple of it. */
	size_t granularity;
	bool is_output;
	/* The object is closed, and the thread is to end. */
	bool ends;
	/* The file has ended, and the thread has. */
	bool is_over;
	/* The thread has bytes in its hands. */
	bool is_busy;
	/* The thread waits for bytes to write, or for room for what it reads. */
	bool waits;
	sem_t bell;
	struct link link;
};

/* Starts the thread. Returns 0, or an error. The object takes care of the file. */
int evl_carry(struct evl_carrier *carrier, struct evl_object *object, int file, size_t size, size_t granularity,
	      bool is_output);
/* Ends the waits, and the thread. */
void evl_carry_no_more(struct evl_carrier *carrier);
void evl_carrier_ends(struct evl_carrier *carrier);

/* All of these bytes, unless it is the end; with `some`, as many as there are. */
ssize_t evl_carrier_read(struct evl_carrier *carrier, void *to, size_t size, bool some, bool waits);
ssize_t evl_carrier_write(struct evl_carrier *carrier, const void *from, size_t size, bool waits);
/* As poll has them. */
unsigned int evl_carrier_events(const struct evl_carrier *carrier);

#endif
