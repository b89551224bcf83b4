// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux's clocks, for threads in primary mode: each time Linux advances them, what converts ticks
 * into their time is written into two copies, one after the other, so that a reader always finds a
 * complete one.
 */
#include <linux/clocksource.h>
#include <linux/compiler.h>
#include <linux/pvclock_gtod.h>
#include <linux/timekeeper_internal.h>
#include <linux/timekeeping.h>
#include <asm/barrier.h>
#include <vdso/clocksource.h>

#include "dual.h"

s64 dual_clock_now(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
		return ktime_get_real_ns();
	case CLOCK_BOOTTIME:
		return ktime_get_boottime_ns();
	default:
		return ktime_get_ns();
	}
}

static void state(struct pillion_dual_conversion *copy, const struct timekeeper *keeper)
{
	const struct tk_read_base *mono = &keeper->tkr_mono, *raw = &keeper->tkr_raw;

	copy->valid = mono->clock->vdso_clock_mode == VDSO_CLOCKMODE_TSC;
	copy->mult = mono->mult;
	copy->shift = mono->shift;
	copy->raw_mult = raw->mult;
	copy->tsc_base = mono->cycle_last;
	copy->base_ns = mono->base;
	copy->fraction = mono->xtime_nsec;
	copy->raw_base_ns = raw->base;
	copy->raw_fraction = raw->xtime_nsec;
	copy->to_realtime_ns = keeper->offs_real;
	copy->to_boottime_ns = keeper->offs_boot;
	copy->to_tai_ns = keeper->offs_tai;
}

/* The callers hold the lock of Linux's timekeeping, so there is one writer. */
static int advanced(struct notifier_block *block, unsigned long was_set, void *keeper)
{
	struct pillion_dual_clocks *clocks = &dual_head()->clocks;
	unsigned int copy;

	for (copy = 0; copy < 2; copy++) {
		/* The task may have been started anew since the last one, and begun at 0. */
		u64 next = (READ_ONCE(clocks->sequence) & ~1ull) + 1 + copy;

		smp_store_release(&clocks->sequence, next);
		/* The number is visible before the copy that it takes from readers changes. */
		smp_wmb();
		state(&clocks->copies[copy], keeper);
		smp_wmb();
	}
	if (was_set)
		dual_runners_look();
	return NOTIFY_OK;
}

static struct notifier_block block = { .notifier_call = advanced };

int dual_clock_open(void)
{
	/* Registration calls it for the first time. */
	return pvclock_gtod_register_notifier(&block);
}

void dual_clock_close(void)
{
	unsigned int copy;

	pvclock_gtod_unregister_notifier(&block);
	for (copy = 0; copy < 2; copy++)
		WRITE_ONCE(dual_head()->clocks.copies[copy].valid, 0);
}
