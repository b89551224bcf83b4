/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of a thread's way back from primary mode: its registers, its call, and what is told. */
#ifndef DUAL_THREAD_H
#define DUAL_THREAD_H

#include <linux/types.h>
#include <asm/ptrace.h>

#include "dual.h"
#include "window.h"

#define SYSCALL_LENGTH 2

/* What is left of a call that was cut short: its registers are loaded, and its slot is given up. */
struct dual_rest {
	u32 resume;
	u64 number;
	s64 wake_ns;
};

/* Linux continues a thread in a system call that was cut short. Returns the call's result. */
long dual_continue(struct pt_regs *regs, const struct dual_rest *rest);

/* Why a thread left primary mode: PILLION_DUAL_LEFT_... */
unsigned int dual_why(const struct pillion_dual_slot *slot);
/*
 * Adds up what the current thread did in primary mode, which it left for that reason, and entered
 * after that start of the task.
 */
void dual_account(struct dual_thread *thread, const struct pillion_dual_slot *slot,
		  unsigned int reason, u32 start);
void dual_account_open(void);
/* Whether the current thread is told of switches; it may have no entry. */
static inline bool dual_warns(const struct dual_process *process, const struct dual_thread *thread)
{
	return process->flags & PILLION_DUAL_WARN || (thread && thread->warns);
}

/* Tells the current thread of that reason: if it wants to know it, or if it is the watchdog. */
void dual_warn(const struct dual_process *process, const struct dual_thread *thread,
	       const struct pillion_dual_slot *slot, unsigned int reason);

#endif
