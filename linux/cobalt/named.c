// SPDX-License-Identifier: GPL-2.0-only
/*
 * Semaphores with names. They are the C library's without primary mode, and where the system file
 * gives threads in primary mode too little time for the broker. One ends with the last process that
 * has it open, but a program may close it first and then remove its name: so what is closed here
 * stays open until then.
 */
#include "named.h"

#include <fcntl.h>
#include <pillion_dual.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "primary/list.h"
#include "primary/lock.h"

_Static_assert(sizeof(struct cobalt_semaphore) <= sizeof(sem_t), "a semaphore has room for one");

/* A semaphore that the process has open. */
struct named {
	/* What the program has. */
	sem_t sem;
	struct link link;
	uint32_t handle;
	/* How often it was opened. */
	unsigned int opens;
	/* Empty: the name was removed. */
	char name[PILLION_DUAL_NAME];
};

static struct link all = LINK_INIT(all);
/* Held by who opens one or removes a name: what is closed is not ended meanwhile. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);

static struct named *named_of(sem_t *sem)
{
	return holder_of(sem, struct named, sem);
}

/* What the program has for a handle, once more, or `fresh` if there is nothing yet. */
static struct named *enter(uint32_t handle, const char *name, struct named *fresh)
{
	struct named *found = NULL;

	primary_lock();
	for each_link(link, &all)
		if (holder_of(link, struct named, link)->handle == handle)
			found = holder_of(link, struct named, link);
	if (!found) {
		found = fresh;
		found->handle = handle;
		strcpy(found->name, name);
		((struct cobalt_semaphore *)&found->sem)->mark = COBALT_NAMED;
		link_before(&found->link, &all);
	}
	found->opens++;
	primary_unlock();
	return found;
}

/* Says which object is meant. */
static int state_name(struct pillion_dual_open *open, const char *name)
{
	memset(open, 0, sizeof(*open));
	if (strlen(name) >= sizeof(open->name))
		return -ENAMETOOLONG;
	strcpy(open->name, name);
	open->kind = PILLION_DUAL_OBJECT_SEMAPHORE;
	return 0;
}

/* Takes one that is closed, with a name or with any, out of the list; NULL: there is none. */
static struct named *take_closed(const char *name)
{
	struct named *found = NULL;

	primary_lock();
	for each_link(link, &all) {
		struct named *named = holder_of(link, struct named, link);

		if (!named->opens && (!name || !strcmp(named->name, name)))
			found = named;
	}
	if (found)
		link_remove(&found->link);
	primary_unlock();
	return found;
}

static void end(struct named *named)
{
	PRIMARY_CALL(CLOSE, named->handle, 0, 0, 0);
	free(named);
}

static bool is_full(long error)
{
	return error == -ENOSPC || error == -EAGAIN || error == -ENFILE || error == -ENOMEM;
}

static sem_t *open_named(const struct pillion_dual_open *open)
{
	struct named *fresh = calloc(1, sizeof(*fresh)), *found;
	long handle = fresh ? PRIMARY_CALL(OPEN, (uintptr_t)open, 0, 0, 0) : -ENOMEM;

	while (fresh && is_full(handle) && (found = take_closed(NULL))) {
		end(found);
		handle = PRIMARY_CALL(OPEN, (uintptr_t)open, 0, 0, 0);
	}
	if (handle < 0) {
		free(fresh);
		errno = -handle;
		return SEM_FAILED;
	}
	found = enter(handle, (const char *)open->name, fresh);
	if (found != fresh)
		free(fresh);
	return &found->sem;
}

sem_t *__real_sem_open(const char *name, int flags, ...);
sem_t *__cobalt_sem_open(const char *name, int flags, ...);
__typeof__(__cobalt_sem_open) __wrap_sem_open __attribute__((alias("__cobalt_sem_open"), weak));

sem_t *__cobalt_sem_open(const char *name, int flags, ...)
{
	struct pillion_dual_open open;
	int error = state_name(&open, name);
	sem_t *sem = SEM_FAILED;
	mode_t mode = 0;
	va_list list;

	/* The C library's may be longer. */
	if (error && primary_is_there()) {
		errno = -error;
		return SEM_FAILED;
	}
	if (flags & O_CREAT) {
		va_start(list, flags);
		mode = va_arg(list, mode_t);
		open.value = va_arg(list, unsigned int);
		va_end(list);
		open.mode = mode;
		open.flags = PILLION_DUAL_OPEN_CREATE | (flags & O_EXCL ? PILLION_DUAL_OPEN_EXCLUSIVE : 0);
	}
	if (primary_is_there()) {
		__real_pthread_mutex_lock(&opening);
		sem = open_named(&open);
		__real_pthread_mutex_unlock(&opening);
	}
	if (sem == SEM_FAILED && (!primary_is_there() || errno == EOPNOTSUPP))
		return __real_sem_open(name, flags, mode, (unsigned int)open.value);
	return sem;
}

WRAP(int, sem_close, sem_t *sem)
{
	struct named *named = named_of(sem);
	bool is_open, has_ended = false;

	if (!cobalt_is_named(sem))
		return __real_sem_close(sem);
	primary_lock();
	is_open = named->opens;
	if (is_open)
		has_ended = !--named->opens && !named->name[0];
	if (has_ended)
		link_remove(&named->link);
	primary_unlock();
	if (has_ended)
		end(named);
	return cobalt_told(is_open ? 0 : -EINVAL);
}

/* A name was removed: what is open goes on without. */
static void forget(const char *name)
{
	struct named *closed = take_closed(name);

	if (closed)
		end(closed);
	primary_lock();
	for each_link(link, &all) {
		struct named *named = holder_of(link, struct named, link);

		if (!strcmp(named->name, name))
			named->name[0] = 0;
	}
	primary_unlock();
}

WRAP(int, sem_unlink, const char *name)
{
	struct pillion_dual_open open;
	long result = state_name(&open, name);

	if (!result && primary_is_there()) {
		/* Nobody makes another one with that name before the present one is forgotten. */
		__real_pthread_mutex_lock(&opening);
		result = PRIMARY_CALL(UNLINK, (uintptr_t)&open, 0, 0, 0);
		if (!result)
			forget(name);
		__real_pthread_mutex_unlock(&opening);
	}
	if (!primary_is_there() || result == -EOPNOTSUPP)
		return __real_sem_unlink(name);
	return cobalt_told(result);
}

int cobalt_named_take(sem_t *sem, struct primary_end end)
{
	return primary_take(named_of(sem)->handle, end);
}

int cobalt_named_post(sem_t *sem)
{
	return PRIMARY_CALL(SEMAPHORE_POST, named_of(sem)->handle, 0, 0, 0);
}

int cobalt_named_value(sem_t *sem, int *value)
{
	long result = PRIMARY_CALL(SEMAPHORE_VALUE, named_of(sem)->handle, 0, 0, 0);

	if (result < 0)
		return result;
	*value = result;
	return 0;
}
