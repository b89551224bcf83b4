/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of the process's objects. The lock guards them. */
#ifndef PRIMARY_NAME_H
#define PRIMARY_NAME_H

#include "list.h"
#include "moment.h"
#include "thread.h"

#define PRIMARY_NAME_SIZE 64

/* A part of each object that can have a name. Names are of one kind of object. */
struct primary_name {
	struct link link;
	/* What is known by it; it also tells kinds apart. */
	const void *kind;
	char text[PRIMARY_NAME_SIZE];
};

/*
 * Gives an object a name, and tells those that wait for it; without a text, it gets one that nobody
 * else has. Returns 0, -EEXIST, or -ENAMETOOLONG.
 */
int primary_name(struct primary_name *name, const void *kind, const char *text);
void primary_unname(struct primary_name *name);
/* The object with a name, or NULL. */
struct primary_name *primary_named(const void *kind, const char *text);
/* Waits for it. Returns 0, or the error of the wait. */
int primary_bind(const void *kind, const char *text, struct primary_end end, struct primary_name **found);

#endif
