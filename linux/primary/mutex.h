/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mutexes of primary mode. As long as nobody waits for one, its word says who owns it, and locking
 * and unlocking cost no call. A real-time thread that is in Linux goes to primary mode to lock one,
 * so that those that want it then need not wait for Linux. With a ceiling, or if it is robust or
 * shared, all of them are calls.
 *
 * The functions return 0, or the negative number of an error.
 */
#ifndef PRIMARY_MUTEX_H
#define PRIMARY_MUTEX_H

#include <pillion_channel.h>
#include <stdbool.h>
#include <stdint.h>

struct primary_mutex {
	/* 0: it is made when a thread first has to ask. */
	uint32_t handle;
	/* Who owns it, as PILLION_DUAL_WORD_... have it. */
	uint32_t word;
	/* How often its owner locked it again. */
	uint16_t depth;
	uint8_t inherits;
	/* The one that it is made with; 0: it has none. */
	uint8_t ceiling;
	bool is_robust;
	/* It is an object with a name, which other processes use, too. */
	bool is_shared;
	/* The task sees no word there: in memory of /dev/mbuff, or with a protection key. */
	bool is_out_of_sight;
	uint8_t unused;
	/* PTHREAD_MUTEX_NORMAL, _RECURSIVE or _ERRORCHECK. */
	int kind;
	/* Where it was made, and in which process: a copy is none. See primary_home(). */
	uintptr_t home;
};

int primary_mutex_make(struct primary_mutex *mutex);
/* Has one be the object with a name of that handle. Who opened that closes it. */
void primary_mutex_share(struct primary_mutex *mutex, uint32_t handle);
/* -EBUSY: a thread owns it or waits for it; or, by force, if a thread owns it. */
int primary_mutex_destroy(struct primary_mutex *mutex, bool by_force);

/* Locks one, until a time of a clock, PILLION_DUAL_SERVICE_FOREVER or _TRY. */
int primary_mutex_lock(struct primary_mutex *mutex, uint64_t clock, int64_t ns);
int primary_mutex_unlock(struct primary_mutex *mutex);

/* What it guards is mended, after -EOWNERDEAD; unlocked before that, it cannot be locked again. */
int primary_mutex_consistent(struct primary_mutex *mutex);

/* The ceiling; sets another one, unless that is 0. */
int primary_mutex_ceiling(struct primary_mutex *mutex, unsigned int ceiling);
/* Locks one with a ceiling, also if the caller is above that. */
int primary_mutex_lock_above(struct primary_mutex *mutex);

/*
 * Gives a mutex up, however often it is locked, waits for a condition of primary mode, and locks
 * the mutex again. The end of a wait without a reason is 0.
 */
int primary_mutex_wait(struct primary_mutex *mutex, uint32_t condition, uint64_t clock, int64_t ns);

#endif
