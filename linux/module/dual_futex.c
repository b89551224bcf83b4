// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls about private futexes by threads in Linux whose memory has threads that may wait in primary
 * mode: each of those has an entry in the window, which is changed to wake it. Everything else is
 * done by Linux's own functions.
 */
#include <linux/bitops.h>
#include <linux/err.h>
/* What <linux/futex.h> needs of others. */
#include <linux/mutex.h>
#include <linux/futex.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/restart_block.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>
#include <asm/unistd.h>

#include "dual_futex.h"
#include "hypercall.h"

/* What Linux does to continue a wait that a signal interrupted. */
static void *wait_restart;

/*
 * The state of a thread's wait in primary mode at an address for one of some bits; 0 if it does not
 * wait there. A thread that has yet to compare the futex does so again.
 */
static u64 found(struct pillion_dual_futex_waiter *waiter, u64 address, u32 bitset)
{
	u64 found = smp_load_acquire(&waiter->state), number = found & -PILLION_DUAL_FUTEX_ONE;

	if (READ_ONCE(waiter->address) != address || !(READ_ONCE(waiter->bitset) & bitset))
		return 0;
	if (found == number + PILLION_DUAL_FUTEX_ARRIVING)
		found = cmpxchg(&waiter->state, found, number + PILLION_DUAL_FUTEX_AGAIN);
	return found == number + PILLION_DUAL_FUTEX_WAITING ? found : 0;
}

/* The most urgent of some waiters, and of these the one that has waited longest; or -1. */
static int first(u32 among, u64 address, u32 bitset, u64 *state)
{
	struct pillion_dual_futex_waiter *waiters = dual_head()->futex_waiters;
	unsigned int i;
	int best = -1;

	for (i = 0; i < dual_slot_count(); i++) {
		u64 now = among & BIT(i) ? found(&waiters[i], address, bitset) : 0;

		if (!now || (best >= 0 && (waiters[i].urgency < waiters[best].urgency ||
					   (waiters[i].urgency == waiters[best].urgency &&
					    waiters[i].since >= waiters[best].since))))
			continue;
		best = i;
		*state = now;
	}
	return best;
}

int dual_futex_wake(unsigned int number, u64 address, u32 bitset, int most)
{
	struct pillion_dual_futex_waiter *waiters = dual_head()->futex_waiters;
	unsigned long flags;
	u32 among;
	u64 state, woken;
	int next, count = 0;

	/* After the thread changed the futex. */
	smp_mb();
	among = smp_load_acquire(&dual_futexes(number)->waiters);
	while (among && count < most) {
		/* Nothing in Linux comes between a thread's wake-up and its signal. */
		local_irq_save(flags);
		next = first(among, address, bitset, &state);
		if (next >= 0) {
			among &= ~BIT(next);
			woken = state - PILLION_DUAL_FUTEX_WAITING + PILLION_DUAL_FUTEX_WOKEN;
			if (cmpxchg(&waiters[next].state, state, woken) == state) {
				hypercall(PILLION_DUAL_SIGNAL, PILLION_DUAL_FIRST_SIGNAL + next);
				count++;
			}
		} else {
			among = 0;
		}
		local_irq_restore(flags);
	}
	return count;
}

/* A call of Linux's that wakes: what is left for it after threads in primary mode. */
static long wake_both(const struct pt_regs *regs, unsigned int number, u32 bitset)
{
	struct pt_regs rest = *regs;
	int most = max_t(int, regs->dx, 1);
	int count = dual_futex_wake(number, regs->di, bitset, most);
	long result;

	if (count == most)
		return count;
	rest.dx = most - count;
	result = dual_natively(&rest);
	return result < 0 && count ? count : result + count;
}

/*
 * A call of Linux's that moves waiters to another address: it wakes them instead, which they have
 * to expect, so that each thread waits where it is counted.
 */
static long wake_instead(const struct pt_regs *regs, unsigned int number, u64 address)
{
	struct pt_regs all = *regs;
	long result;

	all.dx = INT_MAX;
	all.r10 = 0;
	result = dual_natively(&all);
	return result < 0 ? result : result + dual_futex_wake(number, address, U32_MAX, INT_MAX);
}

static long counted(const struct pt_regs *regs, unsigned int number, unsigned int which)
{
	long result;

	dual_futex_count(number, which, 1);
	result = dual_natively(regs);
	dual_futex_count(number, which, -1);
	return result;
}

/* A call about a futex with priority inheritance. */
static long owning(const struct pt_regs *regs, unsigned int number, unsigned int which)
{
	long result;

	dual_futex_count(number, which, 1);
	/* A runner that changes such a futex looked at the count before. */
	while (smp_load_acquire(&dual_futexes(number)->busy) && task_alive(dual_task))
		schedule_timeout_uninterruptible(1);
	result = dual_natively(regs);
	dual_futex_count(number, which, -1);
	return result;
}

static long futex(const struct pt_regs *regs, unsigned int number)
{
	u32 operation = regs->si;
	long result;

	if (!(operation & FUTEX_PRIVATE_FLAG))
		return dual_natively(regs);
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return counted(regs, number, DUAL_FUTEX_WAITS + dual_futex_bucket(regs->di));
	case FUTEX_WAKE:
		return wake_both(regs, number, U32_MAX);
	case FUTEX_WAKE_BITSET:
		return wake_both(regs, number, regs->r9);
	case FUTEX_WAKE_OP:
		/* Whether it wakes at the second address, only Linux knows. */
		result = dual_natively(regs);
		if (result >= 0)
			result += dual_futex_wake(number, regs->di, U32_MAX, max_t(int, regs->dx, 1)) +
				  dual_futex_wake(number, regs->r8, U32_MAX, INT_MAX);
		return result;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		return wake_instead(regs, number, regs->di);
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_TRYLOCK_PI:
	case FUTEX_UNLOCK_PI:
		return owning(regs, number, DUAL_FUTEX_OWNED + dual_futex_bucket(regs->di));
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_CMP_REQUEUE_PI:
		return owning(regs, number, DUAL_FUTEX_ANYWHERE);
	default:
		return dual_natively(regs);
	}
}

/* The rest of a wait, which may be one for a futex, that a signal interrupted. */
static long restarted(const struct pt_regs *regs, unsigned int number)
{
	const struct restart_block *restart = &current->restart_block;

	/* A probe is behind the instruction for indirect calls with which a function may begin. */
	if (wait_restart - (void *)restart->fn > DUAL_ENDBR_BYTES || wait_restart < (void *)restart->fn)
		return dual_natively(regs);
	return counted(regs, number, DUAL_FUTEX_WAITS + dual_futex_bucket((unsigned long)restart->futex.uaddr));
}

#ifdef __NR_futex_requeue
/* Whether the flags of a newer call are those of a futex of this memory alone. */
static bool is_private_2(u32 flags)
{
	return flags & FUTEX2_PRIVATE;
}

static long requeue(const struct pt_regs *regs, unsigned int number)
{
	struct futex_waitv from;

	if (copy_from_user(&from, (void __user *)regs->di, sizeof(from)) || !is_private_2(from.flags))
		return dual_natively(regs);
	return wake_instead(regs, number, from.uaddr);
}
#endif

long dual_futex(const struct pt_regs *regs)
{
	int number = dual_futex_memory();

	if (number < 0)
		return dual_natively(regs);
	switch (dual_number(regs)) {
	case __NR_futex:
		return futex(regs, number);
	case __NR_futex_waitv:
		return counted(regs, number, DUAL_FUTEX_ANYWHERE);
	case __NR_restart_syscall:
		return restarted(regs, number);
#ifdef __NR_futex_requeue
	case __NR_futex_wait:
		return counted(regs, number, DUAL_FUTEX_WAITS + dual_futex_bucket(regs->di));
	case __NR_futex_wake:
		return (int)regs->dx > 0 && is_private_2(regs->r10) ? wake_both(regs, number, regs->si) :
								      dual_natively(regs);
	case __NR_futex_requeue:
		return requeue(regs, number);
#endif
	default:
		return dual_natively(regs);
	}
}

/* Whether a thread with that system call may wait for a futex in Linux. */
bool dual_futex_may_wait(u32 number)
{
	switch (number) {
	case __NR_futex:
	case __NR_futex_waitv:
#ifdef __NR_futex_wait
	case __NR_futex_wait:
#endif
	case __NR_restart_syscall:
		return true;
	default:
		return false;
	}
}

static bool is_lock(u32 command)
{
	return command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2;
}

/* Whether a thread waits in a call with these arguments, and may do so in primary mode. */
bool dual_futex_waits(u64 number, u64 operation)
{
	u32 command = operation & FUTEX_CMD_MASK;

	return number == __NR_futex && operation & FUTEX_PRIVATE_FLAG &&
	       (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || is_lock(command));
}

/* Whether the owner of a futex with priority inheritance is in primary mode. */
static bool owner_is_primary(u32 __user *futex)
{
	int number = dual_futex_memory();
	unsigned int i;
	u32 value;

	if (number < 0 || get_user(value, futex))
		return false;
	for (i = 0; i < dual_slot_count(); i++) {
		const struct pillion_dual_slot *slot = dual_slot(i);

		if (READ_ONCE(slot->state) == PILLION_DUAL_STATE_PRIMARY && slot->memory == number &&
		    slot->thread == (value & FUTEX_TID_MASK))
			return true;
	}
	return false;
}

/* Whether the current thread is to wait in primary mode. One waits in Linux for an owner there. */
bool dual_futex_enters(const struct pt_regs *regs)
{
	return dual_futex_waits(regs->orig_ax, regs->si) &&
	       (!is_lock(regs->si & FUTEX_CMD_MASK) || owner_is_primary((u32 __user *)regs->di));
}

int dual_futex_open(void)
{
	wait_restart = dual_function("futex_wait_restart");
	if (IS_ERR(wait_restart))
		return PTR_ERR(wait_restart);
	return dual_agent_open();
}

void dual_futex_close(void)
{
	dual_agent_close();
}
