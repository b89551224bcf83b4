/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Objects on which threads in primary mode wait for each other, for C programs. `file` is the open
 * /dev/pillion-dual of a process with a mark (pillion_dual.h). An object is named by a handle. The
 * functions return a value, 0, or the negative number of an error.
 *
 * An object is a process's own (pillion_create), or has a name, by which other processes open it
 * (pillion_open). A process has an object open once, however often it opened it, until it closes it
 * or ends; a child does not inherit it. An object ends with the last process or task that has it
 * open, and its name with it; what a task made also stays as long as that task runs.
 *
 * A time is a point of a clock in nanoseconds; in place of a clock there can be PILLION_FOREVER, or
 * PILLION_TRY for a call that does not wait. A signal's handler ends a wait with EINTR, but not one
 * for a mutex.
 */
#ifndef PILLION_OBJECTS_H
#define PILLION_OBJECTS_H

#include <errno.h>
#include <pillion_channel.h>
#include <pillion_dual.h>
#include <string.h>
#include <sys/syscall.h>

#define PILLION_FOREVER PILLION_DUAL_SERVICE_FOREVER
#define PILLION_TRY PILLION_DUAL_SERVICE_TRY

static inline long pillion_raw_call(long number, long file, long command, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	register uint64_t r10 __asm__("r10") = b;
	register uint64_t r8 __asm__("r8") = c;
	register uint64_t r9 __asm__("r9") = d;
	long result;

	__asm__ volatile("syscall" : "=a" (result) : "0" (number), "D" (file), "S" (command), "d" (a), "r" (r10), "r" (r8),
			 "r" (r9) : "rcx", "r11", "memory");
	return result;
}

/* A call of primary mode's own, PILLION_DUAL_SERVICE_..., from either mode. */
static inline long pillion_call(int file, unsigned int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	long command = PILLION_IOC_DUAL_CALL(number), result;

	do {
		result = pillion_raw_call(PILLION_DUAL_SERVICE_FIRST + number, file, command, a, b, c, d);
		if (result == -ENOSYS)
			result = pillion_raw_call(SYS_ioctl, file, command, a, b, c, d);
	} while (result == -ENOSYS);
	return result;
}

/* An object of the process's own: PILLION_DUAL_OBJECT_..., its value and its flags. */
static inline long pillion_create(int file, unsigned int kind, uint64_t value, uint64_t flags)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_CREATE, kind, value, flags, 0);
}

/* Ends an object of the process's own. EBUSY: a thread owns it or waits for it. */
static inline long pillion_destroy(int file, long handle)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_DESTROY, handle, 0, 0, 0);
}

/* Opens an object by its name; see struct pillion_dual_open. Leads to Linux. Returns its handle. */
static inline long pillion_open(int file, const struct pillion_dual_open *open)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_OPEN, (uintptr_t)open, 0, 0, 0);
}

/*
 * Closes an object with a name. EBUSY: a thread of the process owns it or waits for it. Semaphores
 * and queues are closed in any case: no thread of the process may wait for one then.
 */
static inline long pillion_close(int file, long handle)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_CLOSE, handle, 0, 0, 0);
}

/* Removes a name; those who have the object open keep it. For its owner, and the superuser. */
static inline long pillion_unlink(int file, const char *name, unsigned int kind)
{
	struct pillion_dual_open open = { .kind = kind };

	if (strlen(name) >= sizeof(open.name))
		return -ENAMETOOLONG;
	strcpy(open.name, name);
	return pillion_call(file, PILLION_DUAL_SERVICE_UNLINK, (uintptr_t)&open, 0, 0, 0);
}

/*
 * A semaphore with a name is the same one that RTLinux tasks open by it (sem_open), and so is a
 * message queue (mq_open). Other objects are processes' alone.
 */
static inline long pillion_semaphore_wait(int file, long handle, uint64_t clock, uint64_t ns)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_SEMAPHORE_WAIT, handle, clock, ns, 0);
}

static inline long pillion_semaphore_post(int file, long handle)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_SEMAPHORE_POST, handle, 0, 0, 0);
}

static inline long pillion_semaphore_value(int file, long handle)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_SEMAPHORE_VALUE, handle, 0, 0, 0);
}

/* What a queue is made with, as `value` of struct pillion_dual_open. */
static inline uint64_t pillion_queue_shape(uint32_t messages, uint32_t size)
{
	return messages + PILLION_DUAL_OBJECT_QUEUE_SIZE * size;
}

/* The message of the highest priority, 0 to 31, is received first. */
static inline long pillion_queue_send(int file, long handle, const void *message, uint32_t bytes, uint32_t priority,
				      uint64_t clock, uint64_t ns)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_QUEUE_SEND, clock * PILLION_DUAL_SERVICE_QUEUE_CLOCK + handle,
			    (uintptr_t)message, priority * PILLION_DUAL_SERVICE_QUEUE_PRIORITY + bytes, ns);
}

/* Returns the bytes of the message; the room has to hold any message of the queue. */
static inline long pillion_queue_receive(int file, long handle, void *message, uint32_t room, uint32_t *priority,
					 uint64_t clock, uint64_t ns)
{
	long result = pillion_call(file, PILLION_DUAL_SERVICE_QUEUE_RECEIVE,
				   clock * PILLION_DUAL_SERVICE_QUEUE_CLOCK + handle, (uintptr_t)message, room, ns);

	if (result < 0)
		return result;
	if (priority)
		*priority = result / PILLION_DUAL_SERVICE_QUEUE_RESULT;
	return result % PILLION_DUAL_SERVICE_QUEUE_RESULT;
}

/* A queue's most messages, their bytes, and how many there are. */
static inline long pillion_queue_state(int file, long handle, uint32_t *most, uint32_t *bytes, uint32_t *count)
{
	long state = pillion_call(file, PILLION_DUAL_SERVICE_QUEUE_STATE, handle, 0, 0, 0);

	if (state < 0)
		return state;
	*bytes = state % PILLION_DUAL_SERVICE_QUEUE_RESULT;
	*most = state % PILLION_DUAL_SERVICE_QUEUE_COUNT / PILLION_DUAL_SERVICE_QUEUE_RESULT + 1;
	*count = state / PILLION_DUAL_SERVICE_QUEUE_COUNT;
	return 0;
}

/* EOWNERDEAD: the last owner's process ended; the caller is the owner, and is the only one told. */
static inline long pillion_mutex_lock(int file, long handle, uint64_t clock, uint64_t ns)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_MUTEX_LOCK, handle, clock, ns, 0);
}

static inline long pillion_mutex_unlock(int file, long handle)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_MUTEX_UNLOCK, handle, 0, 0, 0);
}

/*
 * What a mutex with PILLION_DUAL_OBJECT_ROBUST guards is mended, after EOWNERDEAD. If it is
 * unlocked before that, all others get ENOTRECOVERABLE.
 */
static inline long pillion_mutex_consistent(int file, long handle)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_MUTEX_CONSISTENT, handle, 0, 0, 0);
}

/*
 * The ceiling of a mutex that was made with one as its value; sets another one, unless that is 0.
 * EPERM: it is higher than a priority that the process may have.
 */
static inline long pillion_mutex_ceiling(int file, long handle, unsigned int ceiling)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_MUTEX_CEILING, handle, ceiling, 0, 0);
}

/*
 * The caller owns the mutex again with each result but EINTR, EPERM, EIDRM and ENOTRECOVERABLE, and
 * EINVAL if the mutex has gone.
 */
static inline long pillion_condition_wait(int file, long handle, long mutex, uint64_t clock, uint64_t ns)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_CONDITION_WAIT, handle, mutex, clock, ns);
}

static inline long pillion_condition_wake(int file, long handle, int all)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_CONDITION_WAKE, handle, all, 0, 0);
}

/*
 * Waits for all of some bits, or with PILLION_DUAL_SERVICE_ANY for one; returns those set. If they
 * are PILLION_DUAL_OBJECT_TAKEN, they are cleared.
 */
static inline long pillion_flags_wait(int file, long handle, uint64_t wanted, uint64_t clock, uint64_t ns)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_FLAGS_WAIT, handle, wanted, clock, ns);
}

static inline long pillion_flags_set(int file, long handle, uint32_t bits)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_FLAGS_SET, handle, bits, 0, 0);
}

/* Returns the bits that were set before, as above. */
static inline long pillion_flags_clear(int file, long handle, uint32_t bits)
{
	return pillion_call(file, PILLION_DUAL_SERVICE_FLAGS_CLEAR, handle, bits, 0, 0);
}

#endif
