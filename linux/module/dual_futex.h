/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private futexes of memories whose threads may wait in primary mode: dual_futex_memory.c these
 * memories, and who waits in Linux; dual_futex.c the system calls of threads in Linux.
 *
 * The order is that of the task's side (user/dual/src/futex): a wait is made known before the futex
 * is compared, a futex is changed before waits are looked for, and a barrier stands between.
 */
#ifndef DUAL_FUTEX_H
#define DUAL_FUTEX_H

#include <linux/types.h>

#include "dual.h"

struct mm_struct;

/* The counts of `struct pillion_dual_futexes`, in one row. */
enum {
	DUAL_FUTEX_ANYWHERE,
	DUAL_FUTEX_WAITS,
	DUAL_FUTEX_OWNED = DUAL_FUTEX_WAITS + PILLION_DUAL_FUTEX_BUCKETS,
	DUAL_FUTEX_COUNTS = DUAL_FUTEX_OWNED + PILLION_DUAL_FUTEX_BUCKETS,
};

static inline struct pillion_dual_futexes *dual_futexes(unsigned int memory)
{
	return memory == PILLION_DUAL_FILE_SET ? &dual_head()->file_waits : &dual_head()->futexes[memory];
}

/* Sets of waits: each memory's, and that of files. */
#define DUAL_FUTEX_SETS (PILLION_DUAL_FILE_SET + 1)

/* Which of BUCKETS counts an address is counted in. */
static inline unsigned int dual_futex_bucket(u64 address)
{
	return (u32)(address / 4 * (u32)PILLION_DUAL_FUTEX_HASH) >> PILLION_DUAL_FUTEX_SHIFT;
}

int dual_agent_open(void);
void dual_agent_close(void);
int dual_futex_memory(void);
void dual_futex_count(unsigned int memory, unsigned int which, int change);
bool dual_futex_may_wait(u32 number);
/* Wakes at most so many threads in primary mode; returns how many. */
int dual_futex_wake(unsigned int set, u64 address, u32 bitset, int most);

#endif
