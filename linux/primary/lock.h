/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lock of what the skins keep in the process's memory: all their objects, and the threads that
 * wait for them. There is one, so that an operation on several objects is like one on a single one.
 * Free, it costs no system call; taken, its owner inherits its waiters' priorities.
 */
#ifndef PRIMARY_LOCK_H
#define PRIMARY_LOCK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct primary_end;
struct primary_thread;

/* They are not to be nested. What is done in between does not wait for anything. */
void primary_lock(void);
void primary_unlock(void);
/* Whether the calling thread owns the lock, or is about to. */
bool primary_is_locking(void);

/* The number of the calling thread. */
uint32_t primary_tid(void);

/* Sleeps, without the lock, until it is woken, or until that time. It may return early. */
int primary_sleep(const struct primary_thread *self, uint32_t *woken, const struct primary_end *end);
/* Wakes a thread when the lock is free again. The word is 1. */
void primary_rouse(const struct primary_thread *thread, uint32_t *woken);

/*
 * What leads to Linux, or may: whoever waits for the lock would follow a thread that has it. Only
 * the function that runs looks at the other fields.
 */
struct primary_errand {
	void (*run)(const struct primary_errand *errand);
	int number;
	void *object;
	siginfo_t info;
};

/* Has an errand run when the lock is free again; at once if the calling thread does not have it. */
void primary_afterwards(const struct primary_errand *errand);
/* Such errands: free(), which may give memory back to Linux, and close() of a file of Linux's. */
void primary_free(void *memory);
void primary_close_file(int number);

#endif
