// SPDX-License-Identifier: GPL-2.0-only
/*
 * Real-time threads of marked processes while Linux runs them: nothing that is less urgent delays
 * them there. Linux is boosted to the thread's level, as far as the system file lets it, and
 * interrupts of its devices wait (the shield). A tracepoint of the scheduler says which thread
 * runs. When the task gives a thread back, it does the same before Linux goes on.
 *
 * What the hypervisor was told last is a word that the task writes, too, and that is cleared when
 * the task is started anew. So the module remembers what it stated itself, and that the task may
 * have stated something since. In doubt, a shield is taken away. If the task gives back another
 * thread just while the current one leaves, the word can state more than the hypervisor
 * knows until the next switch; the thread that was given back is delayed that once.
 *
 * All of it is about each of dual mode's processors by itself, and is called there.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hrtimer.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/smp.h>
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

/* What concerns one of the processors. */
struct processor {
	/* What this module stated last, and whether the task may have stated something since. */
	u32 known;
	bool is_told;
	bool is_guarded;
	/*
	 * Takes away a shield that has been there for a whole period of this timer. It runs while
	 * there are shields, and compares how often there was none: only then do interrupts of
	 * devices come.
	 */
	unsigned int breaks, seen;
	struct hrtimer guard;
};

static DEFINE_PER_CPU(struct processor, processors);

static ktime_t guard_period;

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
	if (!task->rt_priority || task->flags & PF_KTHREAD || !dual_may_be_marked(task))
		return 0;
	return READ_ONCE(shield) | (READ_ONCE(boosts) ? level_of(task->rt_priority) & LEVEL_BITS : 0);
}

/* What was stated about this processor, which is one of dual mode's. */
static u32 stated(void)
{
	return READ_ONCE(this_cpu_read(dual_told)->urgency);
}

/* Tells the hypervisor. The task may write the word, and tell it more, at any time. */
static void state(struct processor *here, u32 urgency)
{
	struct pillion_dual_processor *told = this_cpu_read(dual_told);
	u32 now = urgency;

	lockdep_assert_irqs_disabled();
	do {
		urgency = now;
		WRITE_ONCE(told->urgency, urgency);
		hypercall(PILLION_DUAL_URGENCY, urgency);
		now = READ_ONCE(told->urgency);
	} while (now != urgency);
	here->known = urgency;
	here->is_told = false;
}

/* Whether there may be a boost or a shield. */
static bool is_urgent(const struct processor *here)
{
	return stated() || here->known || here->is_told;
}

/* There may be a shield from now on. */
static void watch(struct processor *here)
{
	if (here->is_guarded)
		return;
	here->is_guarded = true;
	here->seen = here->breaks;
	/* The scheduler's lock is held: the timer must not wake a thread up. */
	hrtimer_start(&here->guard, guard_period, HRTIMER_MODE_REL_PINNED_HARD);
}

static enum hrtimer_restart look(struct hrtimer *timer)
{
	struct processor *here = container_of(timer, struct processor, guard);

	here->is_guarded = here->is_told || ((stated() | here->known) & ~LEVEL_BITS);
	if (!here->is_guarded)
		return HRTIMER_NORESTART;
	if (here->seen == here->breaks) {
		here->breaks++;
		state(here, stated() & LEVEL_BITS);
	}
	here->seen = here->breaks;
	hrtimer_forward_now(timer, guard_period);
	return HRTIMER_RESTART;
}

static void run(struct processor *here, const struct task_struct *task)
{
	u32 urgency = urgency_of(task);

	/* A boost may have ended since, and does not begin while the monitor works for Linux. */
	if (urgency != stated() || (urgency ? boosts : is_urgent(here)))
		state(here, urgency);
	here->known = urgency;
	here->is_told = false;
	if (urgency & ~LEVEL_BITS)
		watch(here);
	else
		here->breaks++;
}

/* Whether this is one of dual mode's processors, which the current thread does not leave now. */
static bool is_here(void)
{
	return this_cpu_read(dual_told);
}

static void switched(void *data, bool preempt, struct task_struct *previous,
		     struct task_struct *next, unsigned int previous_state)
{
	if (is_here())
		run(this_cpu_ptr(&processors), next);
}

/* The current thread has come back to Linux. */
void dual_urgency_run(void)
{
	unsigned long flags;

	local_irq_save(flags);
	if (is_here())
		run(this_cpu_ptr(&processors), current);
	local_irq_restore(flags);
}

/* The task gave something back, and may have told the hypervisor. In any context. */
void dual_urgency_told(void)
{
	unsigned long flags;

	if (!switches)
		return;
	local_irq_save(flags);
	/* It tells the hypervisor only together with an interrupt there. */
	if (is_here()) {
		struct processor *here = this_cpu_ptr(&processors);

		here->is_told = true;
		if (shield)
			watch(here);
	}
	local_irq_restore(flags);
}

/* Linux waits: whatever happens to it ends the wait. Interrupts are disabled. */
void dual_urgency_wait(void)
{
	struct processor *here = this_cpu_ptr(&processors);

	here->breaks++;
	if (is_urgent(here))
		state(here, 0);
}

/*
 * The current thread leaves Linux by a signal to the task: what to add to that. Interrupts are
 * disabled, so that Linux runs no other thread before that.
 */
u64 dual_urgency_leave(void)
{
	struct pillion_dual_processor *told = this_cpu_read(dual_told);
	struct processor *here;

	lockdep_assert_irqs_disabled();
	/* It makes one call: it is not urgent when it comes back. */
	if (!told)
		return 0;
	/* A task that was started anew has forgotten it. */
	WRITE_ONCE(told->shield, shield);
	here = this_cpu_ptr(&processors);
	if (!is_urgent(here))
		return 0;
	WRITE_ONCE(told->urgency, 0);
	here->known = 0;
	here->is_told = false;
	return PILLION_DUAL_CALM;
}

static void end(void *context)
{
	dual_urgency_wait();
}

static void forget(void)
{
	unsigned int i;

	WRITE_ONCE(shield, 0);
	WRITE_ONCE(boosts, false);
	for (i = 0; i < PILLION_DUAL_PROCESSORS; i++)
		WRITE_ONCE(dual_head()->processors[i].shield, 0);
}

/* Linux stops: what runs next, which may be another kernel, knows nothing of a shield. */
void dual_urgency_end(void)
{
	int cpu;

	forget();
	for_each_cpu(cpu, dual_processors())
		smp_call_function_single(cpu, end, NULL, true);
}

/* Linux panics, in any context. Nothing of it runs on the others. */
void dual_urgency_panic(void)
{
	unsigned long flags;

	forget();
	local_irq_save(flags);
	if (is_here())
		end(NULL);
	local_irq_restore(flags);
}

static void find(struct tracepoint *tracepoint, void *found)
{
	if (!strcmp(tracepoint->name, "sched_switch"))
		*(struct tracepoint **)found = tracepoint;
}

/*
 * Without the tracepoint, threads have neither a boost nor a shield; without a vector for the task,
 * which then interrupts as a device does, they have no shield.
 */
void dual_urgency_open(bool has_vector)
{
	u32 ms = has_vector ? window.directory->dual_shield_ms : 0;
	struct tracepoint *found = NULL;
	int error = -ENOENT, cpu;

	boosts = window.directory->dual_ceiling;
	shield = ms ? SHIELD << 8 : 0;
	if (!boosts && !shield)
		return;
	/* It finds a shield that is at least one period old, and less than two. */
	guard_period = ns_to_ktime(ms * (NSEC_PER_MSEC / 2));
	for_each_cpu(cpu, dual_processors()) {
		struct hrtimer *guard = &per_cpu(processors, cpu).guard;

		hrtimer_init(guard, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
		guard->function = look;
	}
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
}

void dual_urgency_close(void)
{
	int cpu;

	if (!switches)
		return;
	tracepoint_probe_unregister(switches, switched, NULL);
	tracepoint_synchronize_unregister();
	switches = NULL;
	for_each_cpu(cpu, dual_processors())
		hrtimer_cancel(&per_cpu(processors, cpu).guard);
	dual_urgency_end();
}
