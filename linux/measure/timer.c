// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts of the local APIC's timer, through one of Linux's high-resolution timers. */
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include <linux/version.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "source.h"

static struct hrtimer timer;
static u64 due;

static enum hrtimer_restart timer_interrupt(struct hrtimer *timer)
{
	u64 handled = rdtsc_ordered();

	arrived(due, handled);
	return HRTIMER_NORESTART;
}

/* The time-stamp counter and Linux's clock at one moment. */
static ktime_t both_clocks(u64 *ticks)
{
	u64 before = rdtsc_ordered(), after;
	struct system_time_snapshot now;

	ktime_get_snapshot(&now);
	after = rdtsc_ordered();
	/*
	 * Linux's clock is the counter, and this is the reading that it was computed from;
	 * otherwise any reading in between.
	 */
	*ticks = before <= now.cycles && now.cycles <= after ? now.cycles : before + (after - before) / 2;
	return ktime_sub(now.real, ktime_mono_to_any(0, TK_OFFS_REAL));
}

void timer_arm(u64 ns)
{
	unsigned long flags;
	ktime_t now;

	local_irq_save(flags);
	now = both_clocks(&due);
	due += mul_u64_u32_div(ns, tsc_khz, USEC_PER_SEC);
	hrtimer_start(&timer, ktime_add_ns(now, ns), HRTIMER_MODE_ABS_HARD);
	local_irq_restore(flags);
}

void timer_init(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&timer, timer_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	timer.function = timer_interrupt;
#endif
}

void timer_exit(void)
{
	hrtimer_cancel(&timer);
}
