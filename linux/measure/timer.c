// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts of the local APIC's timer, through a high-resolution timer of Linux's.
 */
#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
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

void timer_arm(u64 ns)
{
	unsigned long flags;

	/* Both clocks at one moment. */
	local_irq_save(flags);
	due = rdtsc_ordered() + mul_u64_u32_div(ns, tsc_khz, USEC_PER_SEC);
	hrtimer_start(&timer, ns_to_ktime(ns), HRTIMER_MODE_REL_HARD);
	local_irq_restore(flags);
}

void timer_init(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&timer, timer_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = timer_interrupt;
#endif
}

void timer_exit(void)
{
	hrtimer_cancel(&timer);
}
