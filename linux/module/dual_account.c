// SPDX-License-Identifier: GPL-2.0-only
/* What a thread did in primary mode and why it came back, as it is counted and told. */
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <asm/unistd.h>

#include "dual.h"
#include "dual_thread.h"
#include "window.h"

#define PAGE_FAULT 14

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

/* The number of RSI among a slot's registers. */
#define RSI 6

/* A thread that sets what it is told, or looks at itself, goes to Linux knowingly. */
static bool is_about_dual_mode(const struct pillion_dual_slot *slot)
{
	u64 request = slot->registers.gpr[RSI];

	return slot->number == __NR_ioctl &&
	       (request == PILLION_IOC_DUAL_MARK || request == PILLION_IOC_DUAL_LOOK);
}

void dual_warn(const struct dual_process *process, const struct dual_thread *thread,
	       const struct pillion_dual_slot *slot, unsigned int reason)
{
	if (reason == PILLION_DUAL_LEFT_WATCHDOG)
		send_debug(PILLION_DUAL_DEBUG_WATCHDOG);
	else if (!dual_warns(process, thread))
		return;
	else if (reason == PILLION_DUAL_LEFT_CALL && is_about_dual_mode(slot))
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

/* Once, not at each call that could enter primary mode. */
void dual_warn_of_memory(struct dual_process *process, const struct dual_thread *thread)
{
	if (dual_warns(process, thread) && !xchg(&process->is_warned, true))
		send_debug(PILLION_DUAL_DEBUG_MEMORY);
}

void dual_account(struct dual_thread *thread, const struct pillion_dual_slot *slot,
		  unsigned int reason)
{
	struct pillion_dual_thread *sums = &thread->sums;
	u64 latency_ns;

	if (!(slot->flags & PILLION_DUAL_FLAG_ONCE))
		sums->left[reason]++;
	if (reason == PILLION_DUAL_LEFT_CALL)
		count_call(sums, slot->number);
	sums->answered += slot->calls;
	sums->waits += slot->waits;
	sums->primary_ns += mul_u64_u64_div_u64(slot->ticks, NSEC_PER_SEC, window.directory->tsc_hz);
	sums->exhausted += slot->exhausted;
	sums->overruns += slot->overruns;
	latency_ns = mul_u64_u64_div_u64(slot->latency_max, NSEC_PER_SEC, window.directory->tsc_hz);
	sums->latency_max_ns = max(sums->latency_max_ns, latency_ns);
	/* For when the thread has ended. */
	sums->priority = current->rt_priority;
	sums->secondary_ns = current->se.sum_exec_runtime;
}
