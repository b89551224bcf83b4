// SPDX-License-Identifier: GPL-2.0-only
/*
 * Real-time threads of marked processes while Linux runs them: nothing that is less urgent delays
 * them there. Linux is boosted to the thread's level, as far as the system file lets it, and
 * interrupts of its devices wait (the shield). A tracepoint of the scheduler says which thread
 * runs. When the task gives a thread back, it does the same before Linux goes on.
 *
 * What the hypervisor was told last is a word that the task also writes. If the task gives back
 * another thread just while the current one leaves, the word can say more than is true until the
 * next switch: that other thread is then delayed, once.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/irq_vectors.h>

#include "dual.h"
#include "hypercall.h"

#define LEVEL_BITS 0xff

/* Priorities of the FIFO class. */
#define PRIORITY_FIRST 1
#define PRIORITY_LAST 99

/*
 * The task priority under which devices' interrupts wait. Linux's own have vectors from
 * FIRST_SYSTEM_VECTOR on; those of devices that share their class, the last that Linux gives away,
 * do not wait.
 */
#define SHIELD ((FIRST_SYSTEM_VECTOR & 0xf0) - 0x10)

/* The bits for a shield, or 0 if there is none; and whether Linux is boosted. */
static u32 shield;
static bool boosts;

/* The tracepoint, if it is in use. */
static struct tracepoint *switches;

/*
 * Takes a shield away from a thread that has had it for a whole period of this timer. It runs while
 * there are such threads, which it counts when they begin to run.
 */
static struct hrtimer guard;
static ktime_t guard_period;
static unsigned int stays, seen;
static bool is_guarded;

/* As the task computes it. */
static u32 level_of(unsigned int priority)
{
	const u32 *levels = window.directory->dual_levels;
	u32 above = clamp(priority, PRIORITY_FIRST, PRIORITY_LAST) - PRIORITY_FIRST;

	return levels[0] + above * (levels[1] - levels[0]) / (PRIORITY_LAST - PRIORITY_FIRST);
}

/* How urgent a thread is in Linux. */
static u32 urgency_of(const struct task_struct *task)
{
	if (!task->rt_priority || !dual_may_be_marked(task))
		return 0;
	return shield | (boosts ? level_of(task->rt_priority) & LEVEL_BITS : 0);
}

static u32 stated(void)
{
	return READ_ONCE(dual_head()->urgency);
}

/* Tells the hypervisor. The task may write the word, and tell it more, at any time. */
static void state(u32 urgency)
{
	u32 now = urgency;

	lockdep_assert_irqs_disabled();
	do {
		urgency = now;
		WRITE_ONCE(dual_head()->urgency, urgency);
		hypercall(PILLION_DUAL_URGENCY, urgency);
		now = stated();
	} while (now != urgency);
}

/* A thread with a shield begins to run. */
static void watch(void)
{
	stays++;
	if (is_guarded)
		return;
	is_guarded = true;
	/* The scheduler's lock is held: the timer must not wake a thread up. */
	hrtimer_start(&guard, guard_period, HRTIMER_MODE_REL_PINNED_HARD);
}

static enum hrtimer_restart look(struct hrtimer *timer)
{
	u32 urgency = stated();

	is_guarded = urgency & ~LEVEL_BITS;
	if (!is_guarded)
		return HRTIMER_NORESTART;
	if (seen == stays)
		state(urgency & LEVEL_BITS);
	seen = stays;
	hrtimer_forward_now(timer, guard_period);
	return HRTIMER_RESTART;
}

static void run(const struct task_struct *task)
{
	u32 urgency = urgency_of(task);

	/* A boost may have ended since, and does not begin while the monitor works for Linux. */
	if (urgency != stated() || (boosts && urgency))
		state(urgency);
	if (urgency & ~LEVEL_BITS)
		watch();
}

static void switched(void *data, bool preempt, struct task_struct *previous,
		     struct task_struct *next, unsigned int previous_state)
{
	run(next);
}

/* The current thread has come back to Linux. */
void dual_urgency_run(void)
{
	unsigned long flags;

	local_irq_save(flags);
	run(current);
	local_irq_restore(flags);
}

/* Linux waits: whatever happens to it ends the wait. Interrupts are disabled. */
void dual_urgency_wait(void)
{
	if (stated())
		state(0);
}

/*
 * The current thread leaves Linux by a signal to the task: what to add to that. Interrupts are
 * disabled, so that Linux runs no other thread before that.
 */
u64 dual_urgency_leave(void)
{
	lockdep_assert_irqs_disabled();
	if (!stated())
		return 0;
	WRITE_ONCE(dual_head()->urgency, 0);
	return PILLION_DUAL_CALM;
}

static void find(struct tracepoint *tracepoint, void *found)
{
	if (!strcmp(tracepoint->name, "sched_switch"))
		*(struct tracepoint **)found = tracepoint;
}

/* Without the tracepoint, threads have neither a boost nor a shield. */
void dual_urgency_open(void)
{
	u32 ms = window.directory->dual_shield_ms;
	struct tracepoint *found = NULL;
	int error = -ENOENT;

	boosts = window.directory->dual_ceiling;
	shield = ms ? SHIELD << 8 : 0;
	if (!boosts && !shield)
		return;
	/* It finds a shield that is between one and two periods old. */
	guard_period = ns_to_ktime(ms * (NSEC_PER_MSEC / 2));
	hrtimer_init(&guard, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	guard.function = look;
	for_each_kernel_tracepoint(find, &found);
	if (found)
		error = tracepoint_probe_register(found, switched, NULL);
	if (error) {
		boosts = false;
		shield = 0;
		pr_warn("no boost and no shield: the tracepoint sched_switch cannot be used: error %d\n",
			error);
		return;
	}
	switches = found;
	WRITE_ONCE(dual_head()->shield, shield);
}

void dual_urgency_close(void)
{
	unsigned long flags;

	if (!switches)
		return;
	WRITE_ONCE(dual_head()->shield, 0);
	tracepoint_probe_unregister(switches, switched, NULL);
	tracepoint_synchronize_unregister();
	switches = NULL;
	boosts = false;
	shield = 0;
	hrtimer_cancel(&guard);
	local_irq_save(flags);
	dual_urgency_wait();
	local_irq_restore(flags);
}
