// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timerfds that both sides read: those that marked processes make. What a timer was set to and how
 * many of its expirations were taken says what there is to read, so nothing happens when it
 * expires, but that those who wait in Linux are woken.
 */
#include <linux/atomic.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/ktime.h>
#include <linux/magic.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>
#include <linux/timerfd.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "dual_file.h"

/* A timer at one time. */
struct setting {
	u64 value;
	u64 clock;
	u64 first;
	u64 interval;
	u64 flags;
};

static struct setting look(const struct dual_file *this)
{
	const struct pillion_dual_file *shared = this->shared;
	struct setting seen;

	do {
		const struct pillion_dual_timer_setting *set;

		seen.value = smp_load_acquire(&shared->value);
		set = &shared->settings[seen.value / PILLION_DUAL_FILE_TAKEN % 2];
		seen.clock = READ_ONCE(set->clock);
		seen.first = READ_ONCE(set->first);
		seen.interval = READ_ONCE(set->interval);
		seen.flags = READ_ONCE(set->flags);
		/* Before it is looked at whether it was set meanwhile. */
		smp_rmb();
	} while (READ_ONCE(shared->value) != seen.value);
	return seen;
}

/*
 * Begins to set a timer, whose lock is held. A thread in primary mode that sets it waits for its
 * next budget.
 */
static void begin(struct pillion_dual_file *shared)
{
	while (cmpxchg(&shared->changing, PILLION_DUAL_FILE_FREE, PILLION_DUAL_FILE_BY_LINUX) != PILLION_DUAL_FILE_FREE)
		if (!dual_file_is_left())
			schedule_timeout_uninterruptible(1);
}

static void end(struct pillion_dual_file *shared)
{
	smp_store_release(&shared->changing, PILLION_DUAL_FILE_FREE);
}

/* What a timer with that value is set to next, and its value then. */
static u64 write_next(struct pillion_dual_file *shared, u64 value, const struct setting *to)
{
	u64 next = (value & -PILLION_DUAL_FILE_TAKEN) + PILLION_DUAL_FILE_TAKEN;
	struct pillion_dual_timer_setting *set = &shared->settings[next / PILLION_DUAL_FILE_TAKEN % 2];

	WRITE_ONCE(set->clock, to->clock);
	WRITE_ONCE(set->first, to->first);
	WRITE_ONCE(set->interval, to->interval);
	WRITE_ONCE(set->flags, to->flags);
	return next;
}

/* The time of the first expiry that nobody has taken; 0: there is none. */
static u64 due(const struct setting *timer)
{
	u64 taken = timer->value % PILLION_DUAL_FILE_TAKEN;

	return timer->first && (timer->interval || !taken) ? timer->first + taken * timer->interval : 0;
}

/* How many expirations nobody has taken. */
static u64 expired(const struct setting *timer)
{
	u64 next = due(timer), present = dual_clock_now(timer->clock);

	if (!next || present < next)
		return 0;
	return timer->interval ? (present - next) / timer->interval + 1 : 1;
}

/* Takes what does not fit into the count: the timer counts from the expiry after that. */
static bool rebase(struct dual_file *this, const struct setting *timer, u64 count)
{
	struct pillion_dual_file *shared = this->shared;
	struct setting to = *timer;
	bool is_same;

	to.first = due(timer) + count * timer->interval;
	mutex_lock(&this->lock);
	begin(shared);
	is_same = READ_ONCE(shared->value) == timer->value &&
		  cmpxchg64(&shared->value, timer->value, write_next(shared, timer->value, &to)) == timer->value;
	end(shared);
	mutex_unlock(&this->lock);
	return is_same;
}

/* Takes so many expirations, unless the timer is another one by now. */
static bool take_count(struct dual_file *this, const struct setting *timer, u64 count)
{
	if (timer->value % PILLION_DUAL_FILE_TAKEN + count >= PILLION_DUAL_FILE_TAKEN)
		return rebase(this, timer, count);
	return cmpxchg64(&this->shared->value, timer->value, timer->value + count) == timer->value;
}

static u64 take(struct dual_file *this)
{
	struct setting timer;
	u64 count;

	do {
		timer = look(this);
		count = expired(&timer);
	} while (count && !take_count(this, &timer, count));
	return count;
}

static struct hrtimer *alarm_of(struct dual_file *this, u64 clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
		return &this->alarms[DUAL_FILE_REALTIME].timer;
	case CLOCK_BOOTTIME:
		return &this->alarms[DUAL_FILE_BOOTTIME].timer;
	default:
		return &this->alarms[DUAL_FILE_MONOTONIC].timer;
	}
}

/* If it has not expired, who waits for it is woken when it does. */
__poll_t dual_timer_mask(struct dual_file *this)
{
	struct setting timer = look(this);
	u64 next = due(&timer);

	if (expired(&timer))
		return EPOLLIN;
	if (next)
		hrtimer_start(alarm_of(this, timer.clock), min_t(u64, next, KTIME_MAX),
			      HRTIMER_MODE_ABS);
	return 0;
}

static ssize_t timer_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	return dual_file_take(file, to, size, at, take, 0);
}

/* The time until the next expiry. */
static struct itimerspec64 rest(const struct dual_file *this)
{
	struct setting timer = look(this);
	u64 next = due(&timer), present = dual_clock_now(timer.clock);

	next += expired(&timer) * timer.interval;
	return (struct itimerspec64){
		.it_value = ns_to_timespec64(next > present ? next - present : 0),
		.it_interval = ns_to_timespec64(timer.interval),
	};
}

static void timer_show(struct seq_file *to, struct file *file)
{
	struct dual_file *this = dual_file_of(file);
	struct setting timer = look(this);
	struct itimerspec64 time = rest(this);

	if (READ_ONCE(this->is_native)) {
		this->original->show_fdinfo(to, file);
		return;
	}
	seq_printf(to,
		   "clockid: %d\nticks: %llu\nsettime flags: 0%llo\n"
		   "it_value: (%llu, %llu)\nit_interval: (%llu, %llu)\n",
		   this->clock, expired(&timer), timer.flags, (u64)time.it_value.tv_sec,
		   (u64)time.it_value.tv_nsec, (u64)time.it_interval.tv_sec,
		   (u64)time.it_interval.tv_nsec);
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.llseek = noop_llseek,
	/* Not `read_iter`, whose results Linux checks: a thread's can be any. */
	.read = timer_read,
	.poll = dual_file_poll,
	.show_fdinfo = timer_show,
	.release = dual_file_release,
};

/* Another thread can have closed the descriptor of a new timer, and made it another file's. */
static bool is_timer(const struct file *file)
{
	return file->f_inode->i_sb->s_magic == ANON_INODE_FS_MAGIC &&
	       !strcmp(file->f_path.dentry->d_name.name, "[timerfd]");
}

static bool adopt(struct dual_file *place, int descriptor, clockid_t clock)
{
	struct file *file = fget(descriptor);
	bool is_done = false;

	if (!file)
		return false;
	place->clock = clock;
	if (is_timer(file))
		is_done = dual_file_adopt(place, file, PILLION_DUAL_FILE_TIMER, 0, &operations);
	fput(file);
	return is_done;
}

/* Makes a timer, for a marked process. Those that wake a machine from its sleep are Linux's. */
long dual_timer_make(const struct pt_regs *regs)
{
	clockid_t clock = regs->di;
	bool is_known = clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME ||
			clock == CLOCK_BOOTTIME;
	struct dual_file *place = is_known ? dual_file_claim() : NULL;
	long descriptor = dual_natively(regs);

	if (place && (descriptor < 0 || !adopt(place, descriptor, clock)))
		dual_file_unclaim(place);
	return descriptor;
}

/* The timer of a descriptor, with a reference to its file; NULL if it is none. */
static struct dual_file *timer_of(int descriptor)
{
	struct file *file = fget(descriptor);
	struct dual_file *this = dual_file_of(file);

	if (this && this->operations == &operations)
		return this;
	if (file)
		fput(file);
	return NULL;
}

/* A length of time counts by a clock that nobody sets. */
static void set(struct dual_file *this, const struct itimerspec64 *time, int flags)
{
	bool is_absolute = flags & TFD_TIMER_ABSTIME;
	struct pillion_dual_file *shared = this->shared;
	u64 clock = this->clock == CLOCK_REALTIME && !is_absolute ? CLOCK_MONOTONIC : this->clock;
	struct setting to = { .clock = clock, .interval = timespec64_to_ktime(time->it_interval), .flags = flags };
	ktime_t first = timespec64_to_ktime(time->it_value);
	u64 next;

	if (first && !is_absolute)
		first = ktime_add_safe(ns_to_ktime(dual_clock_now(clock)), first);
	to.first = first;
	next = write_next(shared, READ_ONCE(shared->value), &to);
	/* What is taken from now on is none of the setting before. */
	xchg(&shared->value, next);
}

/* Linux's own function for a timer that is Linux's alone. */
static long natively(struct dual_file *this, const struct pt_regs *regs)
{
	long result;

	dual_file_unmask(this);
	result = dual_natively(regs);
	dual_file_mask(this);
	return result;
}

/*
 * Whether only Linux knows when a timer is to expire: at a time of a clock of the caller's own, or
 * when its clock is set.
 */
static bool is_of_linux(const struct dual_file *this, int flags)
{
	if (!(flags & TFD_TIMER_ABSTIME))
		return false;
	return this->clock == CLOCK_REALTIME ? flags & TFD_TIMER_CANCEL_ON_SET : dual_has_clocks();
}

/* Sets a timer, and says what it was set to. False: it is Linux's alone. */
static bool change(struct dual_file *this, const struct itimerspec64 *time, int flags,
		   struct itimerspec64 *before)
{
	bool is_shared;

	mutex_lock(&this->lock);
	is_shared = !this->is_native;
	if (is_shared) {
		begin(this->shared);
		*before = rest(this);
		set(this, time, flags);
		end(this->shared);
		dual_file_changed(this, 0);
	}
	mutex_unlock(&this->lock);
	return is_shared;
}

/* Leaves a timer to Linux, and says what it was set to. False: it was Linux's already. */
static bool leave(struct dual_file *this, struct itimerspec64 *before)
{
	static const struct itimerspec64 never;
	bool is_first;

	mutex_lock(&this->lock);
	is_first = !this->is_native;
	if (is_first) {
		begin(this->shared);
		*before = rest(this);
		set(this, &never, TFD_TIMER_ABSTIME);
		WRITE_ONCE(this->shared->kind, PILLION_DUAL_FILE_NONE);
		end(this->shared);
		smp_store_mb(this->is_native, true);
	}
	mutex_unlock(&this->lock);
	/* Whoever waits looks again. */
	if (is_first)
		dual_file_changed(this, 0);
	return is_first;
}

static long set_native(struct dual_file *this, const struct pt_regs *regs)
{
	struct itimerspec64 before;
	bool is_first = leave(this, &before);
	long result = natively(this, regs);

	if (is_first && !result && regs->r10 && put_itimerspec64(&before, (void __user *)regs->r10))
		return -EFAULT;
	return result;
}

long dual_timer_set(const struct pt_regs *regs)
{
	struct itimerspec64 time, before;
	struct dual_file *this = timer_of(regs->di);
	long result = 0;
	int flags = regs->si;

	if (!this)
		return dual_natively(regs);
	if (get_itimerspec64(&time, (void __user *)regs->dx)) {
		result = -EFAULT;
	} else if (flags & ~TFD_SETTIME_FLAGS || !itimerspec64_valid(&time)) {
		result = -EINVAL;
	} else if (is_of_linux(this, flags) ||
		   !change(this, &time, flags, &before)) {
		result = set_native(this, regs);
	} else if (regs->r10 && put_itimerspec64(&before, (void __user *)regs->r10)) {
		result = -EFAULT;
	}
	fput(this->file);
	return result;
}

long dual_timer_get(const struct pt_regs *regs)
{
	struct dual_file *this = timer_of(regs->di);
	struct itimerspec64 time;
	long result;

	if (!this)
		return dual_natively(regs);
	if (READ_ONCE(this->is_native)) {
		result = natively(this, regs);
	} else {
		time = rest(this);
		result = put_itimerspec64(&time, (void __user *)regs->si) ? -EFAULT : 0;
	}
	fput(this->file);
	return result;
}
