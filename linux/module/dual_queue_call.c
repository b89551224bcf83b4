// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls about POSIX's message queues of both sides, by threads in Linux. They come from Linux's
 * own functions behind the system calls, so those of 32-bit programs come, too.
 */
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/hrtimer.h>
#include <linux/mqueue.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/unistd.h>

#include "dual_futex.h"
#include "dual_queue.h"

/*
 * Waits in Linux until a side can go on, for as long as to a time of CLOCK_REALTIME if there is
 * one. A wait is made known before it is looked at.
 */
static int wait_for(struct dual_queue *this, enum dual_queue_side side, const struct timespec64 *until)
{
	unsigned int bucket = DUAL_FUTEX_WAITS + dual_futex_bucket(dual_queue_address(this, side));
	struct hrtimer_sleeper sleeper;
	DEFINE_WAIT(wait);
	int error = 0;

	hrtimer_init_sleeper_on_stack(&sleeper, CLOCK_REALTIME, HRTIMER_MODE_ABS);
	if (until) {
		hrtimer_set_expires(&sleeper.timer, timespec64_to_ktime(*until));
		hrtimer_sleeper_start_expires(&sleeper, HRTIMER_MODE_ABS);
	}
	dual_futex_count(PILLION_DUAL_FILE_SET, bucket, 1);
	for (;;) {
		/* In the order of arrival. */
		prepare_to_wait_exclusive(&this->waits[side], &wait, TASK_INTERRUPTIBLE);
		if (dual_queue_lets(this, side))
			break;
		error = signal_pending(current) ? -ERESTARTSYS : until && !sleeper.task ? -ETIMEDOUT : 0;
		if (error)
			break;
		schedule();
	}
	finish_wait(&this->waits[side], &wait);
	dual_futex_count(PILLION_DUAL_FILE_SET, bucket, -1);
	hrtimer_cancel(&sleeper.timer);
	destroy_hrtimer_on_stack(&sleeper.timer);
	return error;
}

/* What becomes of a call that has to wait; 0: it looks again. */
static int waits(struct dual_queue *this, const struct file *file, enum dual_queue_side side,
		 const struct timespec64 *until)
{
	return file->f_flags & O_NONBLOCK ? -EAGAIN : wait_for(this, side, until);
}

static char *text_of(struct dual_queue *this, unsigned int place)
{
	return (char *)this->texts + place * this->size;
}

/* Puts a message in, if there is room. Says whether it is the first one. */
static bool put(struct dual_queue *this, const void *text, size_t length, unsigned int priority, bool *is_first)
{
	struct pillion_dual_queue *shared = this->shared;
	unsigned int i, room = this->most;
	u64 number;

	*is_first = true;
	dual_queue_acquire(this);
	for (i = 0; i < this->most; i++)
		if (shared->messages[i].order)
			*is_first = false;
		else
			room = i;
	if (room < this->most) {
		number = shared->next++ % PILLION_DUAL_QUEUE_NUMBERS;
		memcpy(text_of(this, room), text, length);
		shared->messages[room].length = length;
		/* It is a message from here on. */
		smp_store_release(&shared->messages[room].order,
				  (priority + 1) * PILLION_DUAL_QUEUE_NUMBERS +
					  PILLION_DUAL_QUEUE_NUMBERS - 1 - number);
	}
	dual_queue_release(this);
	return room < this->most;
}

/* Takes the message that is the first to be received, if there is one. */
static bool take(struct dual_queue *this, void *text, size_t *length, unsigned int *priority)
{
	struct pillion_dual_queue_message *messages = this->shared->messages;
	unsigned int i, first = 0;

	dual_queue_acquire(this);
	for (i = 1; i < this->most; i++)
		if (messages[i].order > messages[first].order)
			first = i;
	*priority = messages[first].order / PILLION_DUAL_QUEUE_NUMBERS;
	if (*priority) {
		*length = min(messages[first].length, this->size);
		memcpy(text, text_of(this, first), *length);
		smp_store_release(&messages[first].order, 0);
	}
	dual_queue_release(this);
	return (*priority)--;
}

/* Has the current thread use other descriptors from here on. Returns those that it used. */
static struct files_struct *use_descriptors(struct files_struct *next)
{
	struct files_struct *former = current->files;

	task_lock(current);
	current->files = next;
	task_unlock(current);
	return former;
}

/* Takes the messages out of Linux's own queue. */
static void empty(const struct dual_queue *this, int descriptor)
{
	unsigned int i;
	int result = 0;

	for (i = 0; i < this->most && (result >= 0 || result == -EFAULT); i++)
		result = dual_queue_native_receive(descriptor, this->size);
}

/*
 * Has Linux tell whoever asked for it of a message: it comes to Linux's own queue, without a text,
 * and goes. The descriptor for that is none of the sender's, whose threads could put another queue
 * in its place: it is one of kernel threads. Says whether there was one.
 */
static bool tell(struct dual_queue *this, const struct file *file)
{
	struct files_struct *former = use_descriptors(init_task.files);
	struct file *own;
	int descriptor = dual_queue_open_native(file, O_RDWR, &own);

	if (descriptor >= 0) {
		/* What came to it as it became one of both sides would keep it from telling. */
		empty(this, descriptor);
		WRITE_ONCE(this->shared->notifies, 0);
		dual_queue_native_send(descriptor);
		empty(this, descriptor);
		dual_queue_close_native(descriptor, own);
	}
	use_descriptors(former);
	return descriptor >= 0;
}

/*
 * Tells of a message for which nobody waits, if it is the first one. Where a sender cannot, the
 * next one does.
 */
static void notify(const struct file *file, bool is_first)
{
	struct dual_queue *this = dual_queue_of(file);

	if (!READ_ONCE(this->shared->notifies))
		return;
	mutex_lock(&this->telling);
	if (READ_ONCE(this->shared->notifies) && (is_first || this->untold))
		this->untold = !tell(this, file);
	mutex_unlock(&this->telling);
}

int dual_queue_send(struct file *file, const char __user *from, size_t length, unsigned int priority,
		    const struct timespec64 *until)
{
	struct dual_queue *this = dual_queue_of(file);
	bool is_first, had_waiters;
	void *text;
	int error = 0;

	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (length > this->size)
		return -EMSGSIZE;
	text = memdup_user(from, length);
	if (IS_ERR(text))
		return PTR_ERR(text);
	while (!put(this, text, length, priority, &is_first)) {
		error = waits(this, file, DUAL_QUEUE_SENDS, until);
		if (error)
			goto out;
	}
	had_waiters = dual_queue_changed(this, DUAL_QUEUE_RECEIVES);
	if (!had_waiters)
		notify(file, is_first);
out:
	kfree(text);
	return error;
}

int dual_queue_receive(struct file *file, char __user *to, size_t room, unsigned int __user *to_priority,
		       const struct timespec64 *until)
{
	struct dual_queue *this = dual_queue_of(file);
	unsigned int priority;
	size_t length;
	void *text;
	int result = 0;

	if (!(file->f_mode & FMODE_READ))
		return -EBADF;
	if (room < this->size)
		return -EMSGSIZE;
	text = kmalloc(this->size, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	while (!take(this, text, &length, &priority)) {
		result = waits(this, file, DUAL_QUEUE_RECEIVES, until);
		if (result)
			goto out;
	}
	dual_queue_changed(this, DUAL_QUEUE_SENDS);
	result = length;
	if ((to_priority && put_user(priority, to_priority)) || copy_to_user(to, text, length))
		result = -EFAULT;
out:
	kfree(text);
	return result;
}

/*
 * Asks Linux to tell the current process of a message, or not to. That can take as long as the
 * process likes, so nobody waits for it: what is sent meanwhile came before. Meanwhile the process
 * has the descriptor, which is therefore one for neither reading nor writing.
 */
int dual_queue_notify(struct file *file, const struct sigevent *how)
{
	struct dual_queue *this = dual_queue_of(file);
	struct file *own;
	int descriptor, result;

	result = descriptor = dual_queue_open_native(file, O_ACCMODE, &own);
	if (descriptor < 0)
		return result;
	result = dual_queue_native_notify(descriptor, how);
	if (how && !result) {
		/* Between two messages of a runner. */
		dual_queue_acquire(this);
		this->shared->notifies = 1;
		dual_queue_release(this);
	}
	dual_queue_close_native(descriptor, own);
	return result;
}

int dual_queue_change(struct file *file, const struct mq_attr *new, struct mq_attr *old)
{
	struct dual_queue *this = dual_queue_of(file);

	if (new && new->mq_flags & ~O_NONBLOCK)
		return -EINVAL;
	if (old)
		*old = (struct mq_attr){
			.mq_flags = file->f_flags & O_NONBLOCK, .mq_maxmsg = this->most,
			.mq_msgsize = this->size, .mq_curmsgs = dual_queue_count(this),
		};
	if (new) {
		spin_lock(&file->f_lock);
		file->f_flags = (file->f_flags & ~O_NONBLOCK) | new->mq_flags;
		spin_unlock(&file->f_lock);
	}
	return 0;
}

/* Whether a call is one in which a thread may wait for a queue. */
bool dual_queue_call(u64 number)
{
	return number == __NR_mq_timedsend || number == __NR_mq_timedreceive;
}

/* Whether a call about that descriptor is one that primary mode may answer. */
bool dual_queue_is(u64 number, unsigned int descriptor)
{
	struct file *file = dual_queue_call(number) ? fget(descriptor) : NULL;
	bool is = file && dual_queue_of(file);

	if (file)
		fput(file);
	return is;
}

/* Whether the current thread has to wait in such a call, as far as that can be said. */
bool dual_queue_waits(u64 number, unsigned int descriptor)
{
	struct file *file = dual_queue_call(number) ? fget(descriptor) : NULL;
	struct dual_queue *this = file ? dual_queue_of(file) : NULL;
	bool waits = this && !(file->f_flags & O_NONBLOCK) &&
		     !dual_queue_lets(this, number == __NR_mq_timedsend ? DUAL_QUEUE_SENDS : DUAL_QUEUE_RECEIVES);

	if (file)
		fput(file);
	return waits;
}
