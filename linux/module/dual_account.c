// SPDX-License-Identifier: GPL-2.0-only
/* What a thread did in primary mode and why it came back, as it is counted and told. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/unistd.h>

#include "command.h"
#include "dual.h"
#include "dual_thread.h"
#include "window.h"

#define PAGE_FAULT 14

/*
 * What each runner had used when it last gave a thread back, since that start of the task: what it
 * has used beyond is its present thread's. Only the thread in the slot writes it.
 */
static struct {
	u32 start;
	u64 ticks;
	u64 exhausted;
} used[PILLION_DUAL_SLOTS];

/* The first of the task's threads is its own. */
static const struct pillion_thread_usage *usage_of(unsigned int slot)
{
	const struct pillion_usage *usage = window.base + window.directory->usage;

	return &usage->threads[dual_task->index][slot + 1];
}

/* The module may have been loaded before, or another kernel have run. No thread is in a slot. */
void dual_account_open(void)
{
	unsigned int i;

	if (command(PILLION_COMMAND_REFRESH, "", "", 0))
		pr_warn("processor time in primary mode, as shown while threads are there, may be too much\n");
	for (i = 0; i < dual_slot_count(); i++) {
		used[i].start = dual_starts();
		used[i].ticks = READ_ONCE(usage_of(i)->ticks);
		used[i].exhausted = READ_ONCE(usage_of(i)->exhausted);
	}
}

static u64 ns_of(u64 ticks)
{
	return mul_u64_u64_div_u64(ticks, NSEC_PER_SEC, window.directory->tsc_hz);
}

static void count_call(struct pillion_dual_thread *sums, u32 number)
{
	unsigned int i, least = 0;

	for (i = 0; i < PILLION_DUAL_CALLS; i++) {
		if (sums->calls[i].count && sums->calls[i].number == number) {
			sums->calls[i].count++;
			return;
		}
		if (sums->calls[i].count < sums->calls[least].count)
			least = i;
	}
	sums->calls[least].number = number;
	sums->calls[least].count = 1;
}

unsigned int dual_why(const struct pillion_dual_slot *slot)
{
	switch (slot->reason) {
	case PILLION_DUAL_REASON_RECALL:
	case PILLION_DUAL_REASON_ANSWERED:
		return PILLION_DUAL_LEFT_RECALL;
	case PILLION_DUAL_REASON_CALL:
	case PILLION_DUAL_REASON_INVERSION:
		return PILLION_DUAL_LEFT_CALL;
	case PILLION_DUAL_REASON_EXCEPTION:
		return slot->number == PAGE_FAULT ? PILLION_DUAL_LEFT_FAULT :
						    PILLION_DUAL_LEFT_EXCEPTION;
	case PILLION_DUAL_REASON_INSTRUCTION:
		return PILLION_DUAL_LEFT_INSTRUCTION;
	case PILLION_DUAL_REASON_WATCHDOG:
		return PILLION_DUAL_LEFT_WATCHDOG;
	default:
		return PILLION_DUAL_LEFT_REFUSED;
	}
}

static void send_debug(unsigned int why)
{
	struct kernel_siginfo info;

	clear_siginfo(&info);
	info.si_signo = SIGXCPU;
	info.si_code = SI_QUEUE;
	info.si_int = PILLION_DUAL_DEBUG_MARK | why;
	send_sig_info(SIGXCPU, &info, current);
}

/* Whether the thread is about to take a signal: debuggers and the freezer wake it up without. */
static bool has_signal(void)
{
	sigset_t ready;

	spin_lock_irq(&current->sighand->siglock);
	sigorsets(&ready, &current->pending.signal, &current->signal->shared_pending.signal);
	sigandnsets(&ready, &ready, &current->blocked);
	spin_unlock_irq(&current->sighand->siglock);
	return !sigisemptyset(&ready);
}

/*
 * What glibc 2.35 and later block at a thread's end: all signals but the one by which it changes
 * the user of all threads. Its functions let no program block signal 32, so that nobody else does.
 */
#define BLOCKED_AT_END (~(1ull << 32))

/* A thread that sets what it is told, or looks at itself, goes to Linux knowingly. */
static bool is_about_dual_mode(const struct pillion_dual_slot *slot)
{
	u64 request = slot->registers.gpr[RSI];

	return slot->number == __NR_ioctl &&
	       (request == PILLION_IOC_DUAL_MARK || request == PILLION_IOC_DUAL_LOOK);
}

static bool blocks_all(const struct pillion_dual_slot *slot)
{
	const u64 *gpr = slot->registers.gpr;
	u64 set;

	if (slot->number != __NR_rt_sigprocmask || gpr[RDI] != SIG_BLOCK || gpr[RDX] || gpr[R10] != sizeof(set))
		return false;
	return !copy_from_user(&set, (const void __user *)gpr[RSI], sizeof(set)) && set == BLOCKED_AT_END;
}

/*
 * A call by which the C library begins a thread, after a wait for who made it, or ends one: nobody
 * can have it any other way.
 */
static bool is_of_a_thread(const struct pillion_dual_slot *slot)
{
	if (blocks_all(slot))
		return true;
	return slot->number == __NR_rseq || slot->number == __NR_set_robust_list || slot->number == __NR_exit;
}

void dual_warn(const struct dual_process *process, const struct dual_thread *thread,
	       const struct pillion_dual_slot *slot, unsigned int reason)
{
	if (reason == PILLION_DUAL_LEFT_WATCHDOG)
		send_debug(PILLION_DUAL_DEBUG_WATCHDOG);
	else if (!dual_warns(process, thread))
		return;
	else if (reason == PILLION_DUAL_LEFT_CALL && (is_about_dual_mode(slot) || is_of_a_thread(slot)))
		return;
	else if (slot->reason == PILLION_DUAL_REASON_INVERSION)
		send_debug(PILLION_DUAL_DEBUG_INVERSION);
	else if (reason == PILLION_DUAL_LEFT_CALL)
		send_debug(PILLION_DUAL_DEBUG_CALL);
	else if (reason != PILLION_DUAL_LEFT_RECALL)
		send_debug(PILLION_DUAL_DEBUG_FAULT);
	else if (has_signal())
		send_debug(PILLION_DUAL_DEBUG_SIGNAL);
}

bool dual_hinder(struct dual_process *process, unsigned int obstacle)
{
	return !test_bit(obstacle, &process->obstacles) && !test_and_set_bit(obstacle, &process->obstacles);
}

/* Once, not at each call that could enter primary mode. */
void dual_warn_of_memory(struct dual_process *process, const struct dual_thread *thread, int error)
{
	if (error == -EDQUOT)
		dual_hinder(process, PILLION_DUAL_OBSTACLE_LIMIT);
	else if (error == -E2BIG)
		dual_hinder(process, PILLION_DUAL_OBSTACLE_SIZE);
	else
		dual_hinder(process, PILLION_DUAL_OBSTACLE_MEMORY);
	if (dual_warns(process, thread) && !xchg(&process->is_warned, true))
		send_debug(PILLION_DUAL_DEBUG_MEMORY);
}

/* Adds the counts of a slot, which are those of its present thread since it was offered. */
static void add_counts(struct pillion_dual_thread *sums, const struct pillion_dual_slot *slot)
{
	sums->answered += READ_ONCE(slot->calls);
	sums->waits += READ_ONCE(slot->waits);
	sums->overruns += READ_ONCE(slot->overruns);
	sums->latency_max_ns = max_t(u64, sums->latency_max_ns, ns_of(READ_ONCE(slot->latency_max)));
}

/* Adds what a thread in primary mode did so far; its processor time is that of the last refresh. */
void dual_account_live(struct pillion_dual_thread *sums, unsigned int number)
{
	u64 ticks = READ_ONCE(usage_of(number)->ticks);
	u64 exhausted = READ_ONCE(usage_of(number)->exhausted);

	add_counts(sums, dual_slot(number));
	if (used[number].start == dual_starts()) {
		ticks -= min(ticks, used[number].ticks);
		exhausted -= min(exhausted, used[number].exhausted);
	}
	sums->primary_ns += ns_of(ticks);
	sums->exhausted += exhausted;
}

static void add_used(struct pillion_dual_thread *sums, const struct pillion_dual_slot *slot, u32 start)
{
	unsigned int number = slot - dual_slot(0);

	sums->primary_ns += ns_of(slot->ticks);
	sums->exhausted += slot->exhausted;
	if (used[number].start != start) {
		used[number].ticks = 0;
		used[number].exhausted = 0;
		used[number].start = start;
	}
	used[number].ticks += slot->ticks;
	used[number].exhausted += slot->exhausted;
}

void dual_account(struct dual_thread *thread, const struct pillion_dual_slot *slot,
		  unsigned int reason, u32 start)
{
	struct pillion_dual_thread *sums = &thread->sums;

	if (!(slot->flags & PILLION_DUAL_FLAG_ONCE))
		sums->left[reason]++;
	if (reason == PILLION_DUAL_LEFT_CALL)
		count_call(sums, slot->number);
	add_counts(sums, slot);
	add_used(sums, slot, start);
	/* Nobody adds the slot's counts to these any more. */
	WRITE_ONCE(thread->slot, -1);
	/* For when the thread has ended. */
	sums->priority = current->rt_priority;
	sums->secondary_ns = current->se.sum_exec_runtime;
	memcpy(sums->name, current->comm, sizeof(sums->name));
}
