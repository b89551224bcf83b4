// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handlers of FIFOs. They run in the task's main thread; the process whose read, write or ioctl
 * called for it waits for the result, as long as the task lives, no signal comes and ANSWER_TIME
 * has not passed.
 *
 * A process that stops waiting leaves its request in flight: the handler continues with it. So the
 * next request first waits until the previous one is answered, and until no other is in flight that
 * uses the task's data buffer. The shared control words show what is in flight: a request number
 * without an answer. They hold whatever became of the process, the Linux or the load of this module
 * that made the request.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/ioctl.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "handler.h"
#include "hypercall.h"

#define ANSWER_TIME (10 * HZ)
#define RECHECK (HZ / 10)

/* A task must not make a system call look interrupted, as error numbers above those of POSIX do. */
#define LAST_ERROR EHWPOISON

/* The result of a request that is still in flight; no task can return it. */
#define IN_FLIGHT (-EIOCBQUEUED)

static u64 last_request(const struct fifo_view *view)
{
	return READ_ONCE(view->control->request);
}

static bool is_answered(const struct fifo_view *view, u64 number)
{
	/* Pairs with the release when the task answers: the result is complete. */
	return smp_load_acquire(&view->control->answer) == number;
}

/* Whether a request is no longer in flight. A task that is gone accesses nothing either. */
static bool is_over(const struct fifo_view *view, u64 number)
{
	return is_answered(view, number) || !task_alive(view->task) || !fifo_is_current(view);
}

/*
 * Waits until a request is answered. Also returns 0 if nothing is left that could answer it.
 * Returns -EAGAIN if it must not wait, -ETIMEDOUT if it waited too long.
 */
static int wait_for(const struct fifo_view *view, u64 number, bool nonblock)
{
	unsigned long end = jiffies + ANSWER_TIME;
	long left;

	if (is_over(view, number))
		return 0;
	if (nonblock)
		return -EAGAIN;
	do {
		left = wait_event_interruptible_timeout(view->fifo->wait, is_over(view, number),
							RECHECK);
		if (left)
			return left > 0 ? 0 : -ERESTARTSYS;
	} while (time_before(jiffies, end));
	return -ETIMEDOUT;
}

static int lock(struct mutex *mutex, bool nonblock)
{
	if (nonblock)
		return mutex_trylock(mutex) ? 0 : -EAGAIN;
	return mutex_lock_interruptible(mutex) ? -ERESTARTSYS : 0;
}

/* Makes the task check a FIFO's request. */
static void kick(const struct fifo_view *view)
{
	atomic64_or(BIT_ULL(view->number), (atomic64_t *)&view->task->share->kicks);
	hypercall(PILLION_HYPERCALL_KICK, view->task->index);
}

/*
 * Waits until the last request of a FIFO is answered, even if it is that of a Linux which died
 * before it could notify the task.
 */
static int settle(const struct fifo_view *view, bool nonblock)
{
	u64 number = last_request(view);

	if (!is_over(view, number))
		kick(view);
	return wait_for(view, number, nonblock);
}

/* Whether nothing is in flight at a FIFO. */
bool handler_is_free(const struct fifo_view *view)
{
	return !settle(view, true);
}

/* Claims the FIFO's handler for the caller's request: the control words hold one at a time. */
int handler_claim(const struct fifo_view *view, bool nonblock)
{
	int error = lock(&view->fifo->request, nonblock);

	if (error)
		return error;
	error = settle(view, nonblock);
	if (error)
		mutex_unlock(&view->fifo->request);
	return error;
}

void handler_release(const struct fifo_view *view)
{
	mutex_unlock(&view->fifo->request);
}

/*
 * Raises a request; returns its number. Numbers continue where an earlier Linux stopped, or its
 * last answer could look like ours.
 */
static u64 raise(const struct fifo_view *view, u32 kind, u32 command, u64 argument)
{
	struct pillion_fifo_control *control = view->control;
	u64 number = last_request(view) + 1;

	WRITE_ONCE(control->request_kind, kind);
	WRITE_ONCE(control->command, command);
	WRITE_ONCE(control->argument, argument);
	/* The real-time side reads the number first, then the rest. */
	smp_store_release(&control->request, number);
	kick(view);
	return number;
}

/* Makes a claimed handler's request and waits for its result; -ERESTARTSYS or IN_FLIGHT if not. */
static long request(const struct fifo_view *view, u32 kind, u32 command, u64 argument,
		    bool nonblock)
{
	u64 number = raise(view, kind, command, argument);
	s64 result = wait_for(view, number, nonblock);

	if (result)
		return result == -EAGAIN ? IN_FLIGHT : result;
	if (!is_answered(view, number))
		return task_alive(view->task) ? -ENODEV : -EIO;
	result = READ_ONCE(view->control->result);
	return result < -LAST_ERROR ? -EIO : result;
}

/*
 * Calls the handler, which the caller has claimed, after a read or write that moved data. Returns
 * 0, or the negative number for the process.
 */
long handler_call(const struct fifo_view *view, u32 kind, bool nonblock)
{
	long result = request(view, kind, 0, 0, nonblock);

	/* The bytes have moved anyway, and the handler runs without us. */
	return result == -ERESTARTSYS || result == IN_FLIGHT ? 0 : min(result, 0L);
}

/* Whether a request uses the task's data buffer. */
static bool carries(u32 kind, u32 command)
{
	return kind == PILLION_REQUEST_IOCTL && _IOC_DIR(command) != _IOC_NONE && _IOC_SIZE(command);
}

/* Waits until no request of any FIFO of the task is in flight that uses the data buffer. */
static int wait_for_place(const struct task *task, bool nonblock)
{
	struct fifo_view view;
	unsigned int i;
	int error = 0;

	for (i = 0; i < PILLION_CHANNEL_FIFOS && !error; i++)
		if (!fifo_view(i, &view) && view.task == task &&
		    carries(READ_ONCE(view.control->request_kind), READ_ONCE(view.control->command)))
			error = settle(&view, nonblock);
	return error;
}

/* Calls the handler with data, which the handler may change. */
static long carry(const struct fifo_view *view, unsigned int command, unsigned long argument,
		  void *data, bool nonblock)
{
	u8 *shared = view->task->share->ioctl;
	size_t size = _IOC_SIZE(command);
	long result = lock(&view->task->ioctl, nonblock);

	if (result)
		return result;
	result = wait_for_place(view->task, nonblock);
	if (result)
		goto unlock;
	memcpy(shared, data, size);
	result = request(view, PILLION_REQUEST_IOCTL, command, argument, nonblock);
	if (result >= 0)
		memcpy(data, shared, size);
unlock:
	mutex_unlock(&view->task->ioctl);
	return result;
}

static long claim_and_carry(const struct fifo_view *view, unsigned int command,
			    unsigned long argument, void *data, bool nonblock)
{
	long result = handler_claim(view, nonblock);

	if (result)
		return result;
	result = data ? carry(view, command, argument, data, nonblock) :
			request(view, PILLION_REQUEST_IOCTL, command, argument, nonblock);
	handler_release(view);
	/* A request that has begun must not be repeated as if it had not. */
	if (result == IN_FLIGHT)
		return -EINPROGRESS;
	return result == -ERESTARTSYS ? -EINTR : result;
}

/* Passes data from a process to the handler and back; no lock is held at the process's memory. */
static long with_data(const struct fifo_view *view, unsigned int command, unsigned long argument,
		      bool nonblock)
{
	void __user *user = (void __user *)argument;
	size_t size = _IOC_SIZE(command);
	void *data;
	long result;

	if (size > PILLION_CHANNEL_IOCTL_SIZE)
		return -EINVAL;
	data = _IOC_DIR(command) & _IOC_WRITE ? memdup_user(user, size) : kzalloc(size, GFP_KERNEL);
	if (IS_ERR_OR_NULL(data))
		return data ? PTR_ERR(data) : -ENOMEM;
	result = claim_and_carry(view, command, argument, data, nonblock);
	if (result >= 0 && (_IOC_DIR(command) & _IOC_READ) && copy_to_user(user, data, size))
		result = -EFAULT;
	kfree(data);
	return result;
}

/* Calls the handler for I/O controls, with the data that the command encodes. */
long handler_ioctl(const struct fifo_view *view, unsigned int command, unsigned long argument,
		   bool nonblock)
{
	if (carries(PILLION_REQUEST_IOCTL, command))
		return with_data(view, command, argument, nonblock);
	return claim_and_carry(view, command, argument, NULL, nonblock);
}
