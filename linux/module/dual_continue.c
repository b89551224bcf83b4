// SPDX-License-Identifier: GPL-2.0-only
/* Linux goes on with a system call that primary mode had begun. */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/restart_block.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <asm/unistd.h>

#include "dual.h"
#include "dual_thread.h"
#include "window.h"

/*
 * Linux waits until a time of the monotonic clock for the call that was cut short: now, and after a
 * signal in its own way. It has no entry for that but the call itself, which a pending signal ends
 * at once; what it has noted for the restart is then corrected.
 */
static long wait_on(const struct pt_regs *regs, s64 wake_ns, struct __kernel_timespec __user *remaining)
{
	struct restart_block *restart = &current->restart_block;
	ktime_t wake = ns_to_ktime(wake_ns);
	struct timespec64 rest;
	long result;

	/* It can be woken up for nothing. */
	while (!signal_pending(current)) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!schedule_hrtimeout(&wake, HRTIMER_MODE_ABS))
			return 0;
	}
	if (fatal_signal_pending(current))
		return -EINTR;
	if (wake_ns <= (s64)ktime_get_ns())
		return 0;
	result = dual_natively(regs);
	if (result != -ERESTART_RESTARTBLOCK)
		return result;
	restart->nanosleep.clockid = CLOCK_MONOTONIC;
	restart->nanosleep.expires = wake_ns;
	rest = ns_to_timespec64(max(wake_ns - (s64)ktime_get_ns(), 1LL));
	return remaining && put_timespec64(&rest, remaining) ? -EFAULT : result;
}

/* A wait for a futex. The length of time of one that has such is unknown here: it may end early. */
static long continue_futex(const struct pt_regs *regs, const struct dual_rest *rest)
{
	if (rest->resume != PILLION_DUAL_RESUME_ABSOLUTE)
		return signal_pending(current) ? -EINTR : 0;
	if (signal_pending(current))
		return regs->r10 ? -ERESTARTNOHAND : -ERESTARTSYS;
	return dual_futex(regs);
}

long dual_continue(struct pt_regs *regs, const struct dual_rest *rest)
{
	unsigned long number = rest->number;
	unsigned long remaining = number == __NR_nanosleep ? regs->si : regs->r10;
	bool is_for_file = dual_file_call(number) || dual_queue_call(number);

	/* Linux makes it now: its file takes care that it waits in primary mode again. */
	if ((is_for_file || number == __NR_rt_sigtimedwait) && !signal_pending(current))
		return number;
	/* As SYSCALL leaves them. */
	regs->ip += SYSCALL_LENGTH;
	regs->cx = regs->ip;
	regs->r11 = regs->flags;
	regs->orig_ax = number;
	if (number == __NR_futex)
		return continue_futex(regs, rest);
	if (is_for_file)
		return -ERESTARTSYS;
	if (number == __NR_rt_sigtimedwait)
		return dual_natively(regs);
	if (rest->resume == PILLION_DUAL_RESUME_ABSOLUTE)
		return signal_pending(current) ? -ERESTARTNOHAND : dual_natively(regs);
	return wait_on(regs, rest->wake_ns, (struct __kernel_timespec __user *)remaining);
}
