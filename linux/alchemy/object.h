/* SPDX-License-Identifier: GPL-2.0-only */
/* What all of Alchemy's objects have. */
#ifndef ALCHEMY_OBJECT_H
#define ALCHEMY_OBJECT_H

#include <alchemy/timer.h>
#include <stdbool.h>
#include <stdint.h>

#include "primary/name.h"
#include "primary/wait.h"

/* A kind is told by its address. */
struct alchemy_kind {
	const char *name;
};

/* A part of each object. The lock guards it. */
struct alchemy_object {
	struct primary_name name;
	const struct alchemy_kind *kind;
	uintptr_t handle;
};

/*
 * Makes an object known by its name and a handle, which is never used again. Returns 0, -EEXIST,
 * -ENAMETOOLONG, or -ENOMEM: there are too many.
 */
int alchemy_add(struct alchemy_object *object, const struct alchemy_kind *kind, const char *name, uintptr_t *handle);
/*
 * The same for what was allocated and begins with its object: it is freed if that fails. NULL is
 * -ENOMEM.
 */
int alchemy_add_made(void *made, const struct alchemy_kind *kind, const char *name, uintptr_t *handle);
/* The object with a handle, with the lock; NULL, without it: there is none of that kind. */
void *alchemy_enter(const struct alchemy_kind *kind, uintptr_t handle);
/* The same, for who has the lock already. */
void *alchemy_find(const struct alchemy_kind *kind, uintptr_t handle);
/* Nobody finds it any more; under the lock. */
void alchemy_remove(struct alchemy_object *object);
/* Frees the lock, and returns the result. */
long alchemy_leave(long result);
/* Takes one off a count of waiters, without the lock: for a wait that may be cancelled. */
void alchemy_uncount(void *count);
/* Waits for an object with that name. */
int alchemy_bind(const struct alchemy_kind *kind, const char *name, RTIME timeout, uintptr_t *handle);
/* The name, for who asks for it, with room for that many bytes. */
#define ALCHEMY_NAME 32
void alchemy_tell_name(const struct alchemy_object *object, char *name);

/* When waits end: after that long; at that time; the same with NULL and zero as special values. */
struct primary_end alchemy_after(RTIME timeout);
struct primary_end alchemy_until(RTIME end);
struct primary_end alchemy_at(const struct timespec *end);

/* Ticks to nanoseconds, and back. */
int64_t alchemy_ns(SRTIME ticks);

#endif
