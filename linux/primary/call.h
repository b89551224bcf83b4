/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way to primary mode. The library uses system calls themselves, and not the C library's
 * functions for them: a skin may have wrapped those for its program.
 */
#ifndef PRIMARY_CALL_H
#define PRIMARY_CALL_H

#include <pillion_channel.h>
#include <stdbool.h>
#include <stdint.h>

#include "moment.h"

/* Marks the process, so that its real-time threads enter primary mode, and locks its memory. */
void primary_begin(const char *library);
/* Whether there is primary mode; without it, all is Linux's. */
bool primary_is_there(void);
/* Whether the calling thread is in primary mode. */
bool primary_is_now(void);

/* The same without a call: the processor finds no segment in primary mode, which has no tables. */
static inline bool primary_is_here(void)
{
	unsigned int segment;
	bool is_found;

	asm volatile("mov %%ss, %0\n\tverr %w0" : "=r" (segment), "=@ccz" (is_found));
	return !is_found;
}

/* Takes the calling thread to primary mode. Returns 0, or the negative number of an error. */
int primary_enter(void);
/* Takes it to Linux. */
void primary_leave(void);
/* Sends SIGDEBUG at each switch to Linux of the process's threads, of the caller; or no more. */
int primary_warn(bool warns);
int primary_warn_thread(bool warns);
/* Sends SIGDEBUG with a reason to the caller, who takes it in Linux at once. */
void primary_debug(uint32_t reason);

struct pillion_dual_thread;
/* What a thread of the process did. Returns 0, or -ENOENT: it was never in primary mode. */
int primary_look(uint32_t tid, struct pillion_dual_thread *thread);

/* Makes a call of primary mode's own; returns its value, or the negative number of an error. */
long primary_call(unsigned int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/*
 * Makes an object for a place that has none, unless another thread does so first; a mutex can have
 * a word. Returns 0 or the number of an error.
 */
int primary_make(uint32_t *handle, unsigned int kind, uint64_t value, uint64_t flags, uint32_t *word);

/*
 * What tells a copy, and what a child has of its parent, from what was made: stated with an object
 * that lies at that address.
 */
uintptr_t primary_home(const void *at);

/* Takes a semaphore of primary mode's, waiting for it: a cancellation point. */
int primary_take(uint32_t semaphore, struct primary_end end);
/*
 * Waits for flags of primary mode's, some or all of them: a cancellation point, in which a thread
 * that is cancelled may have taken them. Returns those that were set, or an error.
 */
long primary_take_flags(uint32_t flags, uint64_t wanted, struct primary_end end);
/* The clock of a wait as a call has it. */
uint64_t primary_clock(struct primary_end end);

#define PRIMARY_CALL(name, a, b, c, d) primary_call(PILLION_DUAL_SERVICE_##name, a, b, c, d)

#endif
