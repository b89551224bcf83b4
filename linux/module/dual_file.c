// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that threads in primary mode read and write as well. The task finds them by the descriptor
 * table of the thread, which it reads where Linux has it, so nobody has to follow what descriptors
 * mean. Only the operations of the file are replaced, when it is made; its data stay what they are.
 */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/sched/xacct.h>
#include <linux/spinlock.h>
#include <linux/uio.h>
#include <asm/ptrace.h>
#include <asm/unistd.h>

#include "dual_file.h"
#include "dual_futex.h"
#include "rtf.h"

#define MOST 64

static struct dual_file files[MOST];

/* Guards which are free, and what the operations of files are. */
static DEFINE_SPINLOCK(lock);

/* What both sides share, whole pages of Linux's memory. */
static struct pillion_dual_file *shared;

#define SHARED_BYTES (MOST * sizeof(struct pillion_dual_file))

/* How many have been in use: the others need not be looked at. */
static unsigned int used;

/* The task that knows where they are, by how often it was started. */
static u32 stated;
static DEFINE_MUTEX(stating);

static u64 address_of(const struct dual_file *this)
{
	return (this - files + 1) * 4;
}

bool dual_file_any(void)
{
	return READ_ONCE(used);
}

struct dual_file *dual_file_of(const struct file *file)
{
	unsigned int i;

	if (!file)
		return NULL;
	for (i = 0; i < READ_ONCE(used); i++)
		/* Before anything else of it. */
		if (smp_load_acquire(&files[i].file) == file)
			return &files[i];
	return NULL;
}

/* A task that has ended sets nothing any more, and is at no messages. Under the lock. */
static void free_left(void)
{
	unsigned int i;

	for (i = 0; i < MOST; i++)
		cmpxchg(&shared[i].changing, PILLION_DUAL_FILE_BY_TASK, PILLION_DUAL_FILE_FREE);
	dual_queue_free_left();
}

/* Tells the task where to look, under the lock. */
static void state(void)
{
	struct pillion_dual_descriptors *told = &dual_head()->descriptors;

	free_left();
	told->files = (u64)shared;
	told->fdtable_count = offsetof(struct fdtable, max_fds);
	told->fdtable_files = offsetof(struct fdtable, fd);
	told->file_flags = offsetof(struct file, f_flags);
	rtf_state(told);
	dual_queue_state(told);
	WRITE_ONCE(told->count, READ_ONCE(used));
	smp_store_release(&told->direct_map, (u64)__va(0));
	dual_futex_state(PILLION_DUAL_FILE_SET);
	WRITE_ONCE(stated, dual_starts());
}

/* Tells a task that was started anew where to look. */
void dual_file_state(void)
{
	if (READ_ONCE(stated) == dual_starts())
		return;
	mutex_lock(&stating);
	if (stated != dual_starts())
		state();
	mutex_unlock(&stating);
}

/*
 * Whoever waits for what a runner has looks whether that one's task has ended. Another task gets at
 * nothing before it is told where to look, for which it needs the lock. Returns false if a runner
 * may still have it.
 */
bool dual_file_is_left(void)
{
	bool is_left;

	dual_file_state();
	if (task_alive(dual_task))
		return false;
	mutex_lock(&stating);
	is_left = !task_alive(dual_task);
	if (is_left)
		free_left();
	mutex_unlock(&stating);
	return is_left;
}

/* Whether a thread in primary mode still uses what has been released. */
static bool is_used(const struct dual_file *this)
{
	u32 waiters = smp_load_acquire(&dual_head()->file_waits.waiters);
	unsigned int i;

	for (i = 0; i < dual_slot_count(); i++)
		if (waiters & BIT(i) && READ_ONCE(dual_head()->futex_waiters[i].address) == address_of(this))
			return true;
	return false;
}

/* Finds out in which queue Linux's own file has those who wait for it. */
struct finder {
	poll_table table;
	wait_queue_head_t *queue;
};

static void found(struct file *file, wait_queue_head_t *queue, poll_table *table)
{
	container_of(table, struct finder, table)->queue = queue;
}

static wait_queue_head_t *queue_of(struct file *file)
{
	struct finder finder = { .queue = NULL };

	init_poll_funcptr(&finder.table, found);
	vfs_poll(file, &finder.table);
	return finder.queue;
}

/* A place for a file that is to be made; NULL: there are too many. */
struct dual_file *dual_file_claim(void)
{
	struct dual_file *this = NULL;
	unsigned int i;

	spin_lock(&lock);
	for (i = 0; i < MOST && !this; i++) {
		if (files[i].is_claimed || is_used(&files[i]))
			continue;
		this = &files[i];
		this->is_claimed = true;
		WRITE_ONCE(used, max(used, i + 1));
		WRITE_ONCE(dual_head()->descriptors.count, used);
	}
	spin_unlock(&lock);
	return this;
}

/* Gives up a place that has no file. */
void dual_file_unclaim(struct dual_file *this)
{
	spin_lock(&lock);
	this->is_claimed = false;
	spin_unlock(&lock);
}

/*
 * Makes a new file one of both sides, in a place that was claimed. Whoever guessed its descriptor
 * and uses it already goes on with what it was. False if it is in another place: two threads can
 * have been told the same descriptor, one after the other.
 */
bool dual_file_adopt(struct dual_file *this, struct file *file, u32 kind, u64 value,
		     const struct file_operations *operations)
{
	bool is_new;

	this->queue = queue_of(file);
	this->operations = operations;
	this->kind = kind;
	this->is_native = false;
	this->shared->polled = 0;
	this->shared->value = value;
	this->shared->clock = this->clock;
	memset(this->shared->settings, 0, sizeof(this->shared->settings));
	this->shared->kind = kind;
	spin_lock(&lock);
	is_new = !dual_file_of(file);
	if (is_new) {
		__module_get(THIS_MODULE);
		this->original = file->f_op;
		smp_store_release(&this->file, file);
		smp_store_release(&file->f_op, operations);
		smp_store_release(&this->shared->key, (u64)file);
	}
	spin_unlock(&lock);
	return is_new;
}

/* The last descriptor is closed. Linux gives up its reference to the module after this. */
int dual_file_release(struct inode *inode, struct file *file)
{
	struct dual_file *this = dual_file_of(file);
	const struct file_operations *original = this->original;
	unsigned int i;

	/* A thread that waits for it in primary mode goes on, as it does in Linux. */
	WRITE_ONCE(this->shared->key, 0);
	for (i = 0; i < DUAL_FILE_CLOCKS; i++)
		hrtimer_cancel(&this->alarms[i].timer);
	spin_lock(&lock);
	/* Before it is looked at whether somebody uses it. */
	smp_store_mb(this->file, NULL);
	this->is_claimed = false;
	spin_unlock(&lock);
	return original->release(inode, file);
}

/*
 * Wakes all that wait for a file which has changed, in primary mode first; in Linux, those who poll
 * for what is possible now (EPOLLIN, EPOLLOUT), or all (0).
 */
void dual_file_changed(struct dual_file *this, __poll_t possible)
{
	dual_futex_wake(PILLION_DUAL_FILE_SET, address_of(this), U32_MAX, INT_MAX);
	wake_up_interruptible_poll(this->queue, possible);
}

static void deliver(struct dual_file *this)
{
	wake_up_interruptible_poll(this->queue, EPOLLIN | EPOLLOUT);
	if (waitqueue_active(this->queue))
		return;
	WRITE_ONCE(this->shared->polled, 0);
	/* Pairs with the one of `dual_file_poll`. */
	smp_mb();
	if (!waitqueue_active(this->queue))
		return;
	WRITE_ONCE(this->shared->polled, 1);
	/* What was changed meanwhile was not posted, and somebody may have looked before. */
	smp_mb();
	wake_up_interruptible_poll(this->queue, EPOLLIN | EPOLLOUT);
}

/* Does what the task posted. */
void dual_file_deliver(void)
{
	unsigned int i;

	for (i = 0; i < READ_ONCE(used); i++) {
		struct dual_file *this = &files[i];

		if (!READ_ONCE(this->shared->posted) || !xchg(&this->shared->posted, 0))
			continue;
		/* The queue ends with the file. */
		spin_lock(&lock);
		if (this->file)
			deliver(this);
		spin_unlock(&lock);
	}
}

ssize_t dual_file_read(struct dual_file *this, char __user *to, size_t size, loff_t *at)
{
	struct kiocb control;
	struct iov_iter buffer;

	if (this->original->read)
		return this->original->read(this->file, to, size, at);
	init_sync_kiocb(&control, this->file);
	iov_iter_ubuf(&buffer, READ, to, size);
	return this->original->read_iter(&control, &buffer);
}

void dual_file_unmask(struct dual_file *this)
{
	spin_lock(&lock);
	if (!this->unmasked++)
		WRITE_ONCE(this->file->f_op, this->original);
	spin_unlock(&lock);
}

void dual_file_mask(struct dual_file *this)
{
	spin_lock(&lock);
	if (!--this->unmasked)
		WRITE_ONCE(this->file->f_op, this->operations);
	spin_unlock(&lock);
}

static __poll_t mask_of(struct dual_file *this)
{
	return this->kind == PILLION_DUAL_FILE_TIMER ? dual_timer_mask(this) : dual_event_mask(this);
}

/* Whether a call is one in which a thread may wait for a file. */
bool dual_file_call(u64 number)
{
	return number == __NR_read || number == __NR_write;
}

/* Whether the current thread may wait in primary mode in a call for a file by that descriptor. */
bool dual_file_waits(u64 number, unsigned int descriptor)
{
	struct file *file = dual_file_call(number) ? fget(descriptor) : NULL;
	bool is_fifo = file && rtf_is_shown(file);
	bool waits = is_fifo || (file && number == __NR_read && dual_file_of(file));

	if (file)
		fput(file);
	return waits;
}

/*
 * Has the current thread wait in primary mode for what it reads or writes, if it may be there. It
 * then continues with `result`, wherever it is: what called this returns that unchanged.
 */
bool dual_file_enter(long *result)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct dual_process *process;
	struct dual_thread *thread;
	bool reads = regs->orig_ax == __NR_read;
	bool has_entered;

	/* Not a call within another one, or one for another thread. */
	if (!dual_file_call(regs->orig_ax) || current->flags & (PF_KTHREAD | PF_IO_WORKER) ||
	    !user_64bit_mode(regs) || !dual_may_be_marked(current))
		return false;
	process = dual_process_and_thread(&thread);
	if (!process)
		return false;
	has_entered = dual_thread_run(process, thread, regs, result);
	dual_process_put(process);
	/* Linux counts what is above 0 as bytes that were moved. */
	if (has_entered && *result > 0) {
		if (reads)
			add_rchar(current, -*result);
		else
			add_wchar(current, -*result);
	}
	return has_entered;
}

static bool is_ready(struct dual_file *this, u64 room)
{
	if (READ_ONCE(this->is_native))
		return true;
	return room ? READ_ONCE(this->shared->value) <= PILLION_DUAL_FILE_COUNT_MAX - room :
		      mask_of(this) & EPOLLIN;
}

/*
 * Waits in Linux until there is something to read, or room for so much in an eventfd, or the file
 * is Linux's alone.
 */
int dual_file_wait(struct dual_file *this, u64 room)
{
	unsigned int bucket = DUAL_FUTEX_WAITS + dual_futex_bucket(address_of(this));
	int error;

	dual_futex_count(PILLION_DUAL_FILE_SET, bucket, 1);
	error = wait_event_interruptible(*this->queue, is_ready(this, room));
	dual_futex_count(PILLION_DUAL_FILE_SET, bucket, -1);
	return error;
}

ssize_t dual_file_take(struct file *file, char __user *to, size_t size, loff_t *at,
		       u64 (*take)(struct dual_file *this), __poll_t possible)
{
	struct dual_file *this = dual_file_of(file);
	long result;
	u64 count;
	int error;

	if (size < sizeof(count))
		return -EINVAL;
	while (!(count = take(this))) {
		if (READ_ONCE(this->is_native))
			return dual_file_read(this, to, size, at);
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (dual_file_enter(&result))
			return result;
		error = dual_file_wait(this, 0);
		if (error)
			return error;
	}
	if (possible)
		dual_file_changed(this, possible);
	return copy_to_user(to, &count, sizeof(count)) ? -EFAULT : sizeof(count);
}

__poll_t dual_file_poll(struct file *file, poll_table *table)
{
	struct dual_file *this = dual_file_of(file);
	__poll_t mask = this->original->poll(file, table);

	WRITE_ONCE(this->shared->polled, 1);
	/* It is known that somebody may wait before it is looked at. */
	smp_mb();
	return READ_ONCE(this->is_native) ? mask : mask_of(this);
}

static enum hrtimer_restart expire(struct hrtimer *timer)
{
	struct dual_file_alarm *alarm = container_of(timer, struct dual_file_alarm, timer);

	wake_up_interruptible_poll(alarm->file->queue, EPOLLIN);
	return HRTIMER_NORESTART;
}

int dual_files_open(void)
{
	static const clockid_t clocks[] = {
		[DUAL_FILE_MONOTONIC] = CLOCK_MONOTONIC,
		[DUAL_FILE_REALTIME] = CLOCK_REALTIME,
		[DUAL_FILE_BOOTTIME] = CLOCK_BOOTTIME,
	};
	unsigned int i, clock;

	shared = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(SHARED_BYTES));
	if (!shared)
		return -ENOMEM;
	stated = dual_starts() - 1;
	for (i = 0; i < MOST; i++) {
		files[i].shared = &shared[i];
		mutex_init(&files[i].lock);
		for (clock = 0; clock < DUAL_FILE_CLOCKS; clock++) {
			struct dual_file_alarm *alarm = &files[i].alarms[clock];

			hrtimer_init(&alarm->timer, clocks[clock], HRTIMER_MODE_ABS);
			alarm->timer.function = expire;
			alarm->file = &files[i];
		}
	}
	return 0;
}

/* Each file holds the module, so there are none. */
void dual_files_close(void)
{
	WRITE_ONCE(dual_head()->descriptors.direct_map, 0);
	free_pages((unsigned long)shared, get_order(SHARED_BYTES));
}
