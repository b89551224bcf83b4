// SPDX-License-Identifier: GPL-2.0-only
/* Semaphores. Those with names are in named.c; those that processes share are the C library's. */
#include <limits.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/cobalt.h>

#include "internal.h"
#include "named.h"
#include "primary/lock.h"
#include "primary/wait.h"

#define MOST INT_MAX
#define OURS 0x436f4234
#define KNOWN_FLAGS (SEM_FIFO | SEM_PULSE | SEM_PSHARED | SEM_REPORT | SEM_WARNDEL | SEM_RAWCLOCK | SEM_NOBUSYDEL)

struct state {
	/* The program's semaphore, of which a copy is none. */
	const sem_t *of;
	struct primary_queue waiters;
	unsigned int value;
	int flags;
};

/* The state of a semaphore; NULL: it has a name, or is the C library's. */
static struct state *state_of(const sem_t *sem)
{
	const struct cobalt_semaphore *semaphore = (const struct cobalt_semaphore *)sem;

	return semaphore->mark == OURS ? semaphore->state : NULL;
}

/* The C library's, which has those that processes share, and named ones without primary mode. */
static bool is_native(const sem_t *sem)
{
	const struct cobalt_semaphore *semaphore = (const struct cobalt_semaphore *)sem;

	return !state_of(sem) && !cobalt_is_named(sem) && semaphore->native == NATIVE_SHARED;
}

int __real_sem_init(sem_t *sem, int is_shared, unsigned int value);

int sem_init_np(sem_t *sem, int flags, unsigned int value)
{
	struct cobalt_semaphore *semaphore = (struct cobalt_semaphore *)sem;
	struct state *state;

	if (value > MOST || flags & ~KNOWN_FLAGS || (flags & SEM_PULSE && value))
		return cobalt_told(-EINVAL);
	if (state_of(sem) && state_of(sem)->of == sem)
		return cobalt_told(-EBUSY);
	memset(sem, 0, sizeof(*sem));
	if (flags & SEM_PSHARED)
		return flags == SEM_PSHARED ? __real_sem_init(sem, 1, value) : cobalt_told(-EINVAL);
	state = malloc(sizeof(*state));
	if (!state)
		return cobalt_told(-ENOSPC);
	primary_queue_init(&state->waiters, !(flags & SEM_FIFO));
	state->of = sem;
	state->value = value;
	state->flags = flags;
	semaphore->state = state;
	semaphore->mark = OURS;
	return 0;
}

WRAP(int, sem_init, sem_t *sem, int is_shared, unsigned int value)
{
	return sem_init_np(sem, is_shared ? SEM_PSHARED : 0, value);
}

/* With SEM_WARNDEL, the result says whether threads waited. */
WRAP(int, sem_destroy, sem_t *sem)
{
	struct state *state = state_of(sem);
	bool waited;

	if (is_native(sem))
		return __real_sem_destroy(sem);
	if (!state)
		return cobalt_told(-EINVAL);
	primary_lock();
	if (state->flags & SEM_NOBUSYDEL && primary_first(&state->waiters)) {
		primary_unlock();
		return cobalt_told(-EBUSY);
	}
	waited = primary_wake_all(&state->waiters, -EINVAL) && state->flags & SEM_WARNDEL;
	memset(sem, 0, sizeof(*sem));
	primary_unlock();
	free(state);
	return waited;
}

/* It goes to the first thread that waits. */
static int post(struct state *state)
{
	struct primary_wait *first = primary_first(&state->waiters);

	if (first)
		primary_wake(first, 0);
	else if (state->flags & SEM_PULSE)
		return 0;
	else if (state->value == MOST)
		return -EOVERFLOW;
	else
		state->value++;
	return 0;
}

WRAP(int, sem_post, sem_t *sem)
{
	struct state *state = state_of(sem);
	int result;

	if (is_native(sem))
		return __real_sem_post(sem);
	if (!state)
		return cobalt_told(cobalt_is_named(sem) ? cobalt_named_post(sem) : -EINVAL);
	primary_lock();
	result = post(state);
	primary_unlock();
	return cobalt_told(result);
}

int sem_broadcast_np(sem_t *sem)
{
	struct state *state = state_of(sem);

	if (!state)
		return cobalt_told(-EINVAL);
	primary_lock();
	primary_wake_all(&state->waiters, 0);
	primary_unlock();
	return 0;
}

static void give_back(struct primary_wait *wait)
{
	post(wait->data);
}

static int take(sem_t *sem, struct primary_end end)
{
	struct state *state = state_of(sem);
	struct primary_wait wait = { .data = state, .give_back = give_back };
	int result = 0;

	if (!state)
		return cobalt_told(cobalt_is_named(sem) ? cobalt_named_take(sem, end) : -EINVAL);
	primary_lock();
	if (state->value)
		state->value--;
	else
		result = primary_wait(&state->waiters, &wait, end);
	primary_unlock();
	return cobalt_told(result);
}

int __real_sem_trywait(sem_t *sem);

/* Takes one of the C library's, unless the thread would have to sleep and may do so (EAGAIN). */
static int take_native(sem_t *sem)
{
	int error;

	if (!primary_sleeps)
		return EAGAIN;
	error = __real_sem_trywait(sem) ? errno : 0;
	return error == EAGAIN && primary_may_sleep() ? EINTR : error;
}

WRAP(int, sem_wait, sem_t *sem)
{
	int error;

	if (!is_native(sem))
		return take(sem, PRIMARY_FOREVER);
	error = take_native(sem);
	return error == EAGAIN ? __real_sem_wait(sem) : cobalt_told(-error);
}

WRAP(int, sem_clockwait, sem_t *sem, clockid_t clock, const struct timespec *end)
{
	int error;

	if (!is_native(sem))
		return primary_ns(end) < 0 ? cobalt_told(-EINVAL) : take(sem, PRIMARY_UNTIL(clock, primary_ns(end)));
	error = take_native(sem);
	return error == EAGAIN ? __real_sem_clockwait(sem, clock, end) : cobalt_told(-error);
}

WRAP(int, sem_timedwait, sem_t *sem, const struct timespec *end)
{
	struct state *state = state_of(sem);
	clockid_t clock = state && state->flags & SEM_RAWCLOCK ? CLOCK_MONOTONIC : CLOCK_REALTIME;

	return __cobalt_sem_clockwait(sem, clock, end);
}

WRAP(int, sem_trywait, sem_t *sem)
{
	return is_native(sem) ? __real_sem_trywait(sem) : take(sem, PRIMARY_TRY);
}

static int value_of(const struct state *state)
{
	return state->flags & SEM_REPORT && !state->value ? -(int)primary_count(&state->waiters) : (int)state->value;
}

/* With SEM_REPORT, a negative value is the number of threads that wait. */
WRAP(int, sem_getvalue, sem_t *sem, int *value)
{
	struct state *state = state_of(sem);

	if (is_native(sem))
		return __real_sem_getvalue(sem, value);
	if (!state)
		return cobalt_told(cobalt_is_named(sem) ? cobalt_named_value(sem, value) : -EINVAL);
	primary_lock();
	*value = value_of(state);
	primary_unlock();
	return 0;
}

int cobalt_sem_inquire(sem_t *sem, struct cobalt_sem_info *info, pid_t *waiters, size_t size)
{
	struct state *state = state_of(sem);
	int count;

	if (!state)
		return -EINVAL;
	primary_lock();
	info->value = value_of(state);
	info->flags = state->flags;
	info->nr_wait = primary_count(&state->waiters);
	count = primary_list(&state->waiters, waiters, size / sizeof(pid_t));
	primary_unlock();
	return count;
}
