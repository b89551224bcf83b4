// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timers that send signals (timer_create), and threads that wait for these in primary mode. While
 * such a thread is there, its timers are stopped in Linux, and the task knows when they expire;
 * when it comes back, they run again from the first expiry that was not taken. Every other signal
 * that the thread waits for wakes it up in Linux, as it does in a wait there.
 */
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/mm_types.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>
#include <asm/unistd.h>

#include "dual.h"

/* Most timers that are known. */
#define MOST 128

/* A timer of a marked process. */
struct timer {
	/* Its process; NULL: there is no timer here. */
	struct pid *process;
	/* It ends with this memory; only compared. */
	const struct mm_struct *mm;
	/* The thread to which it sends, or NULL. */
	struct pid *thread;
	timer_t id;
	u32 signal;
	u64 value;
	clockid_t clock;
	/*
	 * What it was set to; `first` is 0 if it does not run, runs by another clock, or is
	 * unknown. Linux read its clock some time in the call: it expires up to `late` later.
	 */
	s64 first;
	s64 late;
	s64 interval;
	/* The slot of the thread that has it in primary mode, or -1. */
	int slot;
	/* Calls about it in Linux: no thread takes it along meanwhile. */
	unsigned int users;
};

static struct timer timers[MOST];

static DEFINE_SPINLOCK(lock);

/* Linux's function behind timer_settime; NULL if it cannot be called by itself. */
static int (*settime)(timer_t id, int flags, struct itimerspec64 *new, struct itimerspec64 *old);

/* Forgets a timer. The caller holds the lock. */
static void forget(struct timer *timer)
{
	put_pid(timer->process);
	put_pid(timer->thread);
	timer->process = NULL;
	timer->thread = NULL;
}

static bool is_own(const struct timer *timer)
{
	return timer->process == task_tgid(current) && timer->mm == current->mm;
}

/* The current process's timer with that number, or NULL. The caller holds the lock. */
static struct timer *find(timer_t id)
{
	unsigned int i;

	for (i = 0; i < MOST; i++)
		if (timers[i].process && is_own(&timers[i]) && timers[i].id == id)
			return &timers[i];
	return NULL;
}

/* A place for another timer. The caller holds the lock. */
static struct timer *place(void)
{
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < MOST; i++)
		if (timers[i].process && (!pid_task(timers[i].process, PIDTYPE_TGID) ||
					  (timers[i].process == task_tgid(current) && !is_own(&timers[i]))))
			forget(&timers[i]);
	rcu_read_unlock();
	for (i = 0; i < MOST; i++)
		if (!timers[i].process)
			return &timers[i];
	return NULL;
}

static void remember(timer_t id, clockid_t clock, const struct sigevent *event)
{
	bool is_for_thread = event->sigev_notify & SIGEV_THREAD_ID;
	struct pid *thread = is_for_thread ? find_get_pid(event->sigev_notify_thread_id) : NULL;
	struct timer *timer;

	spin_lock(&lock);
	timer = find(id) ?: place();
	if (timer) {
		if (timer->process)
			forget(timer);
		*timer = (struct timer){
			.process = get_pid(task_tgid(current)), .mm = current->mm, .thread = thread, .id = id,
			.signal = event->sigev_signo, .value = (u64)event->sigev_value.sival_ptr,
			.clock = clock, .slot = -1,
		};
	}
	spin_unlock(&lock);
	if (!timer)
		put_pid(thread);
}

static bool is_known(clockid_t clock)
{
	return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME;
}

/* Makes a timer, for a marked process. */
long dual_signal_make(const struct pt_regs *regs)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	clockid_t clock = regs->di;
	long result;
	int id;

	/* Before Linux looks at it: if somebody changes it in between, that is who is harmed. */
	if (regs->si && copy_from_user(&event, (void __user *)regs->si, sizeof(event)))
		return dual_natively(regs);
	result = dual_natively(regs);
	if (result || (event.sigev_notify & ~SIGEV_THREAD_ID) != SIGEV_SIGNAL ||
	    event.sigev_signo - 1U >= _NSIG || !is_known(clock) ||
	    get_user(id, (int __user *)regs->dx))
		return result;
	if (!regs->si)
		event.sigev_value.sival_int = id;
	remember(id, clock, &event);
	return result;
}

/*
 * One more call about a timer, or one less. Returns the slot of the thread that has it in primary
 * mode, or -1.
 */
static int use(timer_t id, int change)
{
	struct timer *timer;
	int slot = -1;

	spin_lock(&lock);
	timer = find(id);
	if (timer) {
		/* Another timer can have the same number by now. */
		if (change > 0 || timer->users)
			timer->users += change;
		slot = timer->slot;
	}
	spin_unlock(&lock);
	return slot;
}

/* Has the thread that has a timer in primary mode come back. */
static void fetch(timer_t id)
{
	int slot = use(id, 1);

	while (slot >= 0 && !fatal_signal_pending(current)) {
		dual_slot_recall(slot);
		schedule_timeout_uninterruptible(1);
		slot = use(id, 0);
	}
}

/*
 * A timer was set between two times. Only what is certain is known: a time that was set while the
 * clock of Linux is not settable.
 */
static void note(timer_t id, int flags, const struct itimerspec64 *time, s64 begin, s64 end)
{
	s64 first = timespec64_to_ktime(time->it_value);
	bool is_length = first && !(flags & TIMER_ABSTIME);
	struct timer *timer;

	spin_lock(&lock);
	timer = find(id);
	if (timer) {
		if (is_length)
			first = timer->clock == CLOCK_REALTIME ? 0 : ktime_add_safe(begin, first);
		timer->first = first;
		timer->late = is_length ? end - begin : 0;
		timer->interval = timespec64_to_ktime(time->it_interval);
	}
	spin_unlock(&lock);
}

static s64 now_of(timer_t id)
{
	struct timer *timer;
	s64 present;

	spin_lock(&lock);
	timer = find(id);
	present = timer ? dual_clock_now(timer->clock) : 0;
	spin_unlock(&lock);
	return present;
}

long dual_signal_set(const struct pt_regs *regs)
{
	static const struct itimerspec64 unknown;
	struct itimerspec64 time = { };
	timer_t id = regs->di;
	s64 begin;
	long result;
	bool is_known = !get_itimerspec64(&time, (void __user *)regs->dx) && itimerspec64_valid(&time);

	fetch(id);
	begin = now_of(id);
	result = dual_natively(regs);
	/* Linux can have set it, and then have failed to say what it was before. */
	if (result != -EINVAL)
		note(id, regs->si, result || !is_known ? &unknown : &time, begin, now_of(id));
	use(id, -1);
	return result;
}

/* A call that asks for a timer, or ends it. */
long dual_signal_use(const struct pt_regs *regs)
{
	timer_t id = regs->di;
	struct timer *timer;
	long result;

	fetch(id);
	result = dual_natively(regs);
	use(id, -1);
	if (result || dual_number(regs) != __NR_timer_delete)
		return result;
	spin_lock(&lock);
	timer = find(id);
	if (timer)
		forget(timer);
	spin_unlock(&lock);
	return result;
}

/* Whether the current thread can wait for the signal of a timer in primary mode. */
static bool is_wanted(const struct timer *timer, u64 signals)
{
	return timer->process && is_own(timer) && timer->first && timer->slot < 0 && !timer->users &&
	       (!timer->thread || timer->thread == task_pid(current)) && signals >> (timer->signal - 1) & 1;
}

/* The signals that the current thread waits for in a system call; 0: it cannot in primary mode. */
static u64 waits_for(const struct pt_regs *regs)
{
	u64 signals, others;

	if (regs->orig_ax != __NR_rt_sigtimedwait || regs->r10 != sizeof(sigset_t) || !settime ||
	    get_user(signals, (u64 __user *)regs->di))
		return 0;
	signals &= ~(sigmask(SIGKILL) | sigmask(SIGSTOP));
	spin_lock_irq(&current->sighand->siglock);
	others = ~current->blocked.sig[0] | current->pending.signal.sig[0] |
		 current->signal->shared_pending.signal.sig[0];
	spin_unlock_irq(&current->sighand->siglock);
	return signals & others ? 0 : signals;
}

bool dual_signal_enters(const struct pt_regs *regs)
{
	u64 signals = waits_for(regs);
	bool enters = false;
	unsigned int i;

	if (!signals)
		return false;
	spin_lock(&lock);
	for (i = 0; i < MOST && !enters; i++)
		enters = is_wanted(&timers[i], signals);
	spin_unlock(&lock);
	return enters;
}

static bool is_pending(u32 signal)
{
	bool is;

	spin_lock_irq(&current->sighand->siglock);
	is = sigismember(&current->pending.signal, signal) ||
	     sigismember(&current->signal->shared_pending.signal, signal);
	spin_unlock_irq(&current->sighand->siglock);
	return is;
}

/*
 * How many expiries were before the one for which Linux had a timer wait, by what it said between
 * two times; -1: Linux's timer is another one than what is known of it.
 */
static s64 expired(const struct timer *timer, const struct itimerspec64 *said, s64 begin, s64 end)
{
	s64 left = timespec64_to_ktime(said->it_value), interval = timer->interval;
	/* How long after the first expiry that is, at least and at most. */
	s64 least = begin + left - timer->first - timer->late, most = end + left - timer->first;
	s64 low, high;

	if (timespec64_to_ktime(said->it_interval) != interval || most < 0)
		return -1;
	high = interval ? div64_u64(most, interval) : 0;
	low = least > 0 ? (interval ? div64_u64((u64)least + interval - 1, interval) : 1) : 0;
	/* Linux says so of any that has expired, when it has not got to the signal. */
	if (left == 1)
		low = min(low, high);
	if (low > high)
		return -1;
	/* If it could be several: they have expired meanwhile, and were signalled or were not. */
	return low < high && is_pending(timer->signal) ? high : low;
}

/* Stops a timer that the current thread has from now on, and says when it expires next. */
static bool move(struct timer *timer, struct pillion_dual_signal_timer *to)
{
	struct itimerspec64 never = { }, before;
	s64 begin = dual_clock_now(timer->clock), taken;

	if (settime(timer->id, 0, &never, &before))
		return false;
	/* If it has no time, it has expired, and will not again. */
	taken = before.it_value.tv_sec | before.it_value.tv_nsec ?
		expired(timer, &before, begin, dual_clock_now(timer->clock)) : -1;
	if (taken < 0) {
		timer->first = 0;
		settime(timer->id, 0, &before, NULL);
		return false;
	}
	/* What has expired before was signalled by Linux. */
	*to = (struct pillion_dual_signal_timer){
		.id = timer->id, .signal = timer->signal, .value = timer->value, .clock = timer->clock,
		.first = timer->first, .interval = timer->interval, .taken = taken,
	};
	return true;
}

/* The next of the current process's timers that are to be moved into a slot, or NULL. */
static struct timer *claim(unsigned int slot, u64 signals)
{
	struct timer *timer = NULL;
	unsigned int i;

	spin_lock(&lock);
	for (i = 0; i < MOST && !timer; i++)
		if (is_wanted(&timers[i], signals)) {
			timer = &timers[i];
			timer->slot = slot;
		}
	spin_unlock(&lock);
	return timer;
}

/* Before the current thread is offered in a slot that it has, in such a wait. */
void dual_signal_begin(unsigned int number, const struct pt_regs *regs)
{
	struct pillion_dual_slot *slot = dual_slot(number);
	u64 signals = waits_for(regs);
	struct timer *timer;

	while (slot->timer_count < PILLION_DUAL_SIGNAL_TIMERS && (timer = claim(number, signals)))
		slot->timer_count += move(timer, &slot->timers[slot->timer_count]);
	/* What Linux has for it from here on wakes it up, as in its own wait. */
	spin_lock_irq(&current->sighand->siglock);
	current->real_blocked = current->blocked;
	current->blocked.sig[0] &= ~signals;
	recalc_sigpending();
	spin_unlock_irq(&current->sighand->siglock);
	slot->signals = signals;
}

/* Lets a timer run on in Linux, if it runs. */
static void restart(const struct pillion_dual_signal_timer *timer)
{
	struct itimerspec64 time = { };

	if (timer->first && (timer->interval || !timer->taken))
		time.it_value = ns_to_timespec64(timer->first + timer->taken * timer->interval);
	time.it_interval = ns_to_timespec64(timer->interval);
	settime(timer->id, TIMER_ABSTIME, &time, NULL);
}

/* What a timer was set to by the thread that had it. */
static void learn(struct timer *timer, const struct pillion_dual_slot *slot)
{
	unsigned int i;

	for (i = 0; i < slot->timer_count && i < PILLION_DUAL_SIGNAL_TIMERS; i++) {
		const struct pillion_dual_signal_timer *now = &slot->timers[i];

		if (now->id != timer->id || (now->first == timer->first && now->interval == timer->interval))
			continue;
		timer->first = now->first;
		timer->late = 0;
		timer->interval = now->interval;
	}
}

/* When it has come back, or is lost: then there is nothing in the slot. */
void dual_signal_end(unsigned int number)
{
	struct pillion_dual_slot *slot = dual_slot(number);
	sigset_t blocked = current->real_blocked;
	unsigned int i;

	sigprocmask(SIG_SETMASK, &blocked, NULL);
	spin_lock_irq(&current->sighand->siglock);
	sigemptyset(&current->real_blocked);
	spin_unlock_irq(&current->sighand->siglock);
	for (i = 0; i < slot->timer_count && i < PILLION_DUAL_SIGNAL_TIMERS; i++)
		restart(&slot->timers[i]);
	spin_lock(&lock);
	for (i = 0; i < MOST; i++) {
		if (timers[i].slot != number || !timers[i].process)
			continue;
		learn(&timers[i], slot);
		timers[i].slot = -1;
	}
	spin_unlock(&lock);
}

void dual_signal_open(void)
{
	void *function = dual_function("do_timer_settime");

	settime = IS_ERR(function) ? NULL : function;
}

void dual_signal_close(void)
{
	unsigned int i;

	for (i = 0; i < MOST; i++)
		if (timers[i].process)
			forget(&timers[i]);
}
