// SPDX-License-Identifier: GPL-2.0-only
#include "mutex.h"

#include <errno.h>
#include <pthread.h>

#include "call.h"
#include "lock.h"
#include "thread.h"

static bool has_word(const struct primary_mutex *mutex)
{
	return !mutex->ceiling && !mutex->is_robust && !mutex->is_shared && !mutex->is_out_of_sight;
}

/* How often a word that the task cannot write is touched. */
#define ATTEMPTS 64

static int make(struct primary_mutex *mutex)
{
	uint64_t flags = mutex->inherits ? PILLION_DUAL_OBJECT_INHERIT : 0;

	if (mutex->kind == PTHREAD_MUTEX_ERRORCHECK)
		flags |= PILLION_DUAL_OBJECT_CHECKED;
	/* How often one with a word is locked is counted here. */
	if (mutex->kind == PTHREAD_MUTEX_RECURSIVE && !has_word(mutex))
		flags |= PILLION_DUAL_OBJECT_RECURSIVE;
	if (mutex->is_robust)
		flags |= PILLION_DUAL_OBJECT_ROBUST;
	return -primary_make(&mutex->handle, PILLION_DUAL_OBJECT_MUTEX, mutex->ceiling, flags,
			     has_word(mutex) ? &mutex->word : NULL);
}

static uint32_t word_of(const struct primary_mutex *mutex)
{
	return __atomic_load_n(&mutex->word, __ATOMIC_RELAXED);
}

static bool is_owner(const struct primary_mutex *mutex, uint32_t thread)
{
	return (word_of(mutex) & PILLION_DUAL_WORD_THREAD) == thread;
}

/* If the word is the task's, and could not be written once, the task knows better. */
static bool may_be_owner(const struct primary_mutex *mutex, uint32_t thread)
{
	return word_of(mutex) & PILLION_DUAL_WORD_CLAIMED || is_owner(mutex, thread);
}

static bool exchange(struct primary_mutex *mutex, uint32_t old, uint32_t new)
{
	return __atomic_compare_exchange_n(&mutex->word, &old, new, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Has Linux make the word's page one that can be written, if it is not. */
static void touch(struct primary_mutex *mutex)
{
	asm volatile("lock orl $0, %0" : "+m" (mutex->word));
}

/* Asks the task for an operation on the mutex. -EFAULT: it cannot write the word. */
static long ask(struct primary_mutex *mutex, unsigned int number, uint64_t first, uint64_t second, uint64_t third,
		uint64_t fourth)
{
	unsigned int attempt;
	long result = -EFAULT;

	for (attempt = 0; attempt < ATTEMPTS && result == -EFAULT; attempt++) {
		if (attempt)
			touch(mutex);
		result = primary_call(number, first, second, third, fourth);
	}
	return result;
}

int primary_mutex_make(struct primary_mutex *mutex)
{
	uintptr_t home = primary_home(mutex);
	int error;

	if (mutex->home != home)
		mutex->handle = 0;
	if (mutex->handle)
		return 0;
	mutex->home = home;
	error = make(mutex);
	/* While nobody owns it: an unlock, which is refused, looks at the word. */
	if (!error && has_word(mutex) && !word_of(mutex) &&
	    ask(mutex, PILLION_DUAL_SERVICE_MUTEX_UNLOCK, mutex->handle, 0, 0, 0) == -EFAULT) {
		PRIMARY_CALL(DESTROY, mutex->handle, 1, 0, 0);
		mutex->handle = 0;
		mutex->is_out_of_sight = true;
		error = make(mutex);
	}
	return error;
}

void primary_mutex_share(struct primary_mutex *mutex, uint32_t handle)
{
	*mutex = (struct primary_mutex){
		.handle = handle, .is_shared = true, .kind = PTHREAD_MUTEX_ERRORCHECK, .home = primary_home(mutex)
	};
}

int primary_mutex_destroy(struct primary_mutex *mutex, bool by_force)
{
	int error = 0;

	if (word_of(mutex))
		return -EBUSY;
	if (mutex->handle)
		error = PRIMARY_CALL(DESTROY, mutex->handle, by_force, 0, 0);
	if (!error)
		mutex->handle = 0;
	return error;
}

static int ask_for_lock(struct primary_mutex *mutex, uint64_t clock, int64_t ns, bool may_be_above)
{
	int error = primary_mutex_make(mutex);

	if (!error)
		error = ask(mutex, PILLION_DUAL_SERVICE_MUTEX_LOCK, mutex->handle, clock, ns, may_be_above);
	/* An owner that ended left its own. */
	if (!error)
		mutex->depth = 0;
	return error;
}

static int lock_again(struct primary_mutex *mutex, uint64_t clock, int64_t ns)
{
	if (mutex->kind == PTHREAD_MUTEX_RECURSIVE) {
		if (mutex->depth == UINT16_MAX)
			return -EAGAIN;
		mutex->depth++;
		return 0;
	}
	if (clock == PILLION_DUAL_SERVICE_TRY)
		return -EBUSY;
	/* One that does not check waits for itself. */
	return mutex->kind == PTHREAD_MUTEX_ERRORCHECK ? -EDEADLK : ask_for_lock(mutex, clock, ns, false);
}

int primary_mutex_lock(struct primary_mutex *mutex, uint64_t clock, int64_t ns)
{
	/* From then on the thread says when it ends. */
	uint32_t own = primary_self()->tid;

	if (!has_word(mutex))
		return ask_for_lock(mutex, clock, ns, false);
	if (is_owner(mutex, own))
		return lock_again(mutex, clock, ns);
	if ((primary_is_here() || !primary_is_urgent()) && exchange(mutex, 0, own)) {
		mutex->depth = 0;
		return 0;
	}
	if (clock == PILLION_DUAL_SERVICE_TRY && word_of(mutex) & PILLION_DUAL_WORD_THREAD)
		return -EBUSY;
	return ask_for_lock(mutex, clock, ns, false);
}

int primary_mutex_unlock(struct primary_mutex *mutex)
{
	uint32_t own = primary_tid();

	if (has_word(mutex)) {
		if (!may_be_owner(mutex, own))
			return -EPERM;
		if (is_owner(mutex, own) && mutex->depth) {
			mutex->depth--;
			return 0;
		}
		if (exchange(mutex, own, 0))
			return 0;
	}
	return ask(mutex, PILLION_DUAL_SERVICE_MUTEX_UNLOCK, mutex->handle, 0, 0, 0);
}

int primary_mutex_consistent(struct primary_mutex *mutex)
{
	return PRIMARY_CALL(MUTEX_CONSISTENT, mutex->handle, 0, 0, 0);
}

int primary_mutex_ceiling(struct primary_mutex *mutex, unsigned int ceiling)
{
	int error = primary_mutex_make(mutex);

	return error ? error : PRIMARY_CALL(MUTEX_CEILING, mutex->handle, ceiling, 0, 0);
}

int primary_mutex_lock_above(struct primary_mutex *mutex)
{
	return ask_for_lock(mutex, PILLION_DUAL_SERVICE_FOREVER, 0, true);
}

int primary_mutex_wait(struct primary_mutex *mutex, uint32_t condition, uint64_t clock, int64_t ns)
{
	unsigned int depth = mutex->depth;
	int error = primary_mutex_make(mutex);
	long result;

	if (error)
		return error;
	if (has_word(mutex) && !may_be_owner(mutex, primary_tid()))
		return -EPERM;
	mutex->depth = 0;
	result = ask(mutex, PILLION_DUAL_SERVICE_CONDITION_WAIT, condition, mutex->handle, clock, ns);
	/* Linux wanted the thread while it waited: it does not have the mutex. */
	if (result == -EINTR)
		result = ask_for_lock(mutex, PILLION_DUAL_SERVICE_FOREVER, 0, true);
	/* With some errors, it has not. */
	if (is_owner(mutex, primary_tid()))
		mutex->depth = depth;
	return result;
}
