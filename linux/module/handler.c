// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handlers of FIFOs. They run in the task's main thread; the process whose read, write or ioctl it
 * was waits for the result, as long as the task lives, no signal comes and ANSWER_TIME has not
 * gone by.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/ioctl.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "handler.h"
#include "hypercall.h"

#define ANSWER_TIME (10 * HZ)
#define RECHECK (HZ / 10)

/* A task must not make a system call look interrupted, which errors above those of POSIX do. */
#define LAST_ERROR EHWPOISON

/*
 * Raises a request; returns its number. Numbers go on where an earlier Linux stopped, or its last
 * answer could look like ours.
 */
static u64 raise(const struct fifo_view *view, u32 kind, u32 command, u64 argument)
{
	struct pillion_fifo_control *control = view->control;
	u64 number = READ_ONCE(control->request) + 1;

	WRITE_ONCE(control->request_kind, kind);
	WRITE_ONCE(control->command, command);
	WRITE_ONCE(control->argument, argument);
	/* The real-time side reads the number first, then what it is about. */
	smp_store_release(&control->request, number);
	atomic64_or(BIT_ULL(view->number), (atomic64_t *)&view->task->share->kicks);
	hypercall(PILLION_HYPERCALL_KICK, view->task->index);
	return number;
}

static bool answered(const struct fifo_view *view, u64 number)
{
	/* Pairs with the release by which the task answers: the result is there. */
	return smp_load_acquire(&view->control->answer) == number;
}

static int wait_for(const struct fifo_view *view, u64 number)
{
	unsigned long end = jiffies + ANSWER_TIME;
	long left;

	for (;;) {
		left = wait_event_interruptible_timeout(view->fifo->wait,
							answered(view, number), RECHECK);
		if (left)
			return left > 0 ? 0 : -EINTR;
		if (!task_alive(view->task))
			return -EIO;
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
	}
}

/* One request at a time for each FIFO: its words hold one. */
static long request(const struct fifo_view *view, u32 kind, u32 command, u64 argument)
{
	s64 result;

	if (mutex_lock_interruptible(&view->fifo->request))
		return -EINTR;
	result = wait_for(view, raise(view, kind, command, argument));
	if (!result)
		result = READ_ONCE(view->control->result);
	mutex_unlock(&view->fifo->request);
	return result < -LAST_ERROR ? -EIO : result;
}

/*
 * Calls the handler after a read or write that moved data; returns 0, or the negative number that
 * the process is to get.
 */
long handler_call(const struct fifo_view *view, u32 kind)
{
	long result;

	/* What a task that is gone has left is read without it. */
	if (!(view->flags & PILLION_FIFO_HANDLER) || !task_alive(view->task))
		return 0;
	result = request(view, kind, 0, 0);
	/* The bytes have moved all the same, and the handler runs without us. */
	return result == -EINTR ? 0 : min(result, 0L);
}

/* Calls the handler with the data that the command says it carries. */
static long carry(const struct fifo_view *view, unsigned int command, unsigned long argument)
{
	void __user *user = (void __user *)argument;
	u8 *shared = view->task->share->ioctl;
	size_t size = _IOC_SIZE(command);
	long result;

	memset(shared, 0, size);
	if ((_IOC_DIR(command) & _IOC_WRITE) && copy_from_user(shared, user, size))
		return -EFAULT;
	result = request(view, PILLION_REQUEST_IOCTL, command, argument);
	if (result >= 0 && (_IOC_DIR(command) & _IOC_READ) && copy_to_user(user, shared, size))
		return -EFAULT;
	return result;
}

/* Calls the handler of I/O controls. */
long handler_ioctl(const struct fifo_view *view, unsigned int command, unsigned long argument)
{
	long result;

	if (_IOC_DIR(command) == _IOC_NONE || !_IOC_SIZE(command))
		return request(view, PILLION_REQUEST_IOCTL, command, argument);
	if (_IOC_SIZE(command) > PILLION_CHANNEL_IOCTL_SIZE)
		return -EINVAL;
	if (mutex_lock_interruptible(&view->task->ioctl))
		return -EINTR;
	result = carry(view, command, argument);
	mutex_unlock(&view->task->ioctl);
	return result;
}
