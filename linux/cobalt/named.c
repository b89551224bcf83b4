// SPDX-License-Identifier: GPL-2.0-only
/*
 * Semaphores with names. They are the C library's without primary mode, and where the system file
 * gives threads in primary mode too little time for the broker.
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
};

static struct link all = LINK_INIT(all);

static struct named *named_of(sem_t *sem)
{
	return holder_of(sem, struct named, sem);
}

/* What the program has for a handle, once more, or `fresh` if there is nothing yet. */
static struct named *enter(uint32_t handle, struct named *fresh)
{
	struct named *found = NULL;

	primary_lock();
	for each_link(link, &all)
		if (holder_of(link, struct named, link)->handle == handle)
			found = holder_of(link, struct named, link);
	if (!found) {
		found = fresh;
		found->handle = handle;
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

static sem_t *open_named(const struct pillion_dual_open *open)
{
	struct named *fresh = calloc(1, sizeof(*fresh)), *found;
	long handle = fresh ? PRIMARY_CALL(OPEN, (uintptr_t)open, 0, 0, 0) : -ENOMEM;

	if (handle < 0) {
		free(fresh);
		errno = -handle;
		return SEM_FAILED;
	}
	found = enter(handle, fresh);
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

	if (error) {
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
	if (primary_is_there())
		sem = open_named(&open);
	if (sem == SEM_FAILED && (!primary_is_there() || errno == EOPNOTSUPP))
		return __real_sem_open(name, flags, mode, (unsigned int)open.value);
	return sem;
}

WRAP(int, sem_close, sem_t *sem)
{
	struct named *named = named_of(sem);
	bool is_last;

	if (!cobalt_is_named(sem))
		return __real_sem_close(sem);
	primary_lock();
	is_last = !--named->opens;
	if (is_last)
		link_remove(&named->link);
	primary_unlock();
	if (!is_last)
		return 0;
	PRIMARY_CALL(CLOSE, named->handle, 0, 0, 0);
	free(named);
	return 0;
}

WRAP(int, sem_unlink, const char *name)
{
	struct pillion_dual_open open;
	long result = state_name(&open, name);

	if (!result && primary_is_there())
		result = PRIMARY_CALL(UNLINK, (uintptr_t)&open, 0, 0, 0);
	if (!primary_is_there() || result == -EOPNOTSUPP)
		return __real_sem_unlink(name);
	return cobalt_told(result);
}

/* The wait of a thread that may be cancelled in it. */
struct wait {
	sem_t *sem;
	bool has_taken;
};

static void cancelled(void *argument)
{
	const struct wait *wait = argument;

	if (wait->has_taken)
		cobalt_named_post(wait->sem);
}

int cobalt_named_take(sem_t *sem, struct primary_end end)
{
	struct wait wait = { .sem = sem };
	uint64_t clock = end.clock;
	int before;
	long result;

	if (end.clock == PRIMARY_NEVER)
		clock = PILLION_DUAL_SERVICE_FOREVER;
	else if (end.clock == PRIMARY_AT_ONCE)
		clock = PILLION_DUAL_SERVICE_TRY;
	pthread_cleanup_push(cancelled, &wait);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
	result = PRIMARY_CALL(SEMAPHORE_WAIT, named_of(sem)->handle, clock, end.ns, 0);
	wait.has_taken = !result;
	pthread_setcanceltype(before, NULL);
	pthread_cleanup_pop(0);
	return result;
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
