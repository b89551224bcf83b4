/* SPDX-License-Identifier: GPL-2.0-only */
/* Private futexes, by system calls of the test's own. */
#ifndef FUTEX_H
#define FUTEX_H

#include <linux/futex.h>

#include "test.h"

/* Of Linux 6.7 and later. */
#define SYS_futex_wake_2 454
#define SYS_futex_wait_2 455

static inline long futex(uint32_t *word, int operation, uint32_t value, const void *time, uint32_t bits)
{
	return call(SYS_futex, (long)word, operation | FUTEX_PRIVATE_FLAG, value, (long)time, 0, bits);
}

/* A counting semaphore, as simple as can be. */
static inline void put(uint32_t *semaphore)
{
	long result;

	__atomic_fetch_add(semaphore, 1, __ATOMIC_RELEASE);
	result = futex(semaphore, FUTEX_WAKE, 1, NULL, 0);
	check(result >= 0, "FUTEX_WAKE: %ld", result);
}

static inline void take_one(uint32_t *semaphore)
{
	uint32_t value = __atomic_load_n(semaphore, __ATOMIC_RELAXED);

	for (;;) {
		if (value && __atomic_compare_exchange_n(semaphore, &value, value - 1, false, __ATOMIC_ACQUIRE,
							 __ATOMIC_RELAXED))
			return;
		if (value)
			continue;
		long result = futex(semaphore, FUTEX_WAIT, 0, NULL, 0);

		check(!result || result == -EAGAIN || result == -EINTR, "FUTEX_WAIT: %ld", result);
		value = __atomic_load_n(semaphore, __ATOMIC_RELAXED);
	}
}

#endif
