// SPDX-License-Identifier: GPL-2.0-only
#include "object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "primary/lock.h"

#define INDEX_BITS 12
#define MOST ((1 << INDEX_BITS) - 1)

/* A handle is a place in the table, and how many objects have had it. */
static struct {
	struct alchemy_object *object;
	uintptr_t uses;
} table[MOST + 1];

int alchemy_add(struct alchemy_object *object, const struct alchemy_kind *kind, const char *name, uintptr_t *handle)
{
	static unsigned int next;
	unsigned int tries, index;
	int error;

	primary_lock();
	for (tries = 0; tries < MOST; tries++) {
		/* The first place is not used: handle 0 is none. */
		index = 1 + next++ % MOST;
		if (!table[index].object)
			break;
	}
	error = tries < MOST ? primary_name(&object->name, kind, name) : -ENOMEM;
	if (!error) {
		object->kind = kind;
		object->handle = ++table[index].uses << INDEX_BITS | index;
		table[index].object = object;
		*handle = object->handle;
	}
	return alchemy_leave(error);
}

int alchemy_add_made(void *made, const struct alchemy_kind *kind, const char *name, uintptr_t *handle)
{
	int error = made ? alchemy_add(made, kind, name, handle) : -ENOMEM;

	if (error)
		free(made);
	return error;
}

void alchemy_uncount(void *count)
{
	primary_lock();
	--*(unsigned int *)count;
	primary_unlock();
}

void *alchemy_find(const struct alchemy_kind *kind, uintptr_t handle)
{
	struct alchemy_object *object = table[handle & MOST].object;

	return object && object->handle == handle && object->kind == kind ? object : NULL;
}

void *alchemy_enter(const struct alchemy_kind *kind, uintptr_t handle)
{
	void *object;

	primary_lock();
	object = alchemy_find(kind, handle);
	if (!object)
		primary_unlock();
	return object;
}

void alchemy_remove(struct alchemy_object *object)
{
	table[object->handle & MOST].object = NULL;
	primary_unname(&object->name);
}

long alchemy_leave(long result)
{
	primary_unlock();
	return result;
}

int alchemy_bind(const struct alchemy_kind *kind, const char *name, RTIME timeout, uintptr_t *handle)
{
	struct primary_name *found;
	int error;

	if (!name || !*name)
		return -EINVAL;
	primary_lock();
	error = primary_bind(kind, name, alchemy_after(timeout), &found);
	if (!error)
		*handle = holder_of(found, struct alchemy_object, name)->handle;
	return alchemy_leave(error);
}

void alchemy_tell_name(const struct alchemy_object *object, char *name)
{
	snprintf(name, ALCHEMY_NAME, "%.*s", ALCHEMY_NAME - 1, object->name.text);
}
