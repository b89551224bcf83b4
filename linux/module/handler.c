// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handlers of FIFOs. They run in the task's main thread; the process whose read, write or ioctl it
 * was waits for the result, as long as the task lives, no signal comes and ANSWER_TIME has not
 * gone by.
 *
 * A process that does not wait any longer leaves its request in flight: the handler goes on with
 * it. So who comes next first waits until the request before is answered, and until no other is
 * in flight that uses the task's place for data. What is in flight is told by the words that both
 * sides use, a number of a request without an answer: it holds whatever became of the process,
 * of the Linux or of the load of this module that made the request.
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

/* A task must not make a system call look interrupted, which errors above those of POSIX do. */
#define LAST_ERROR EHWPOISON

/* The result of a request that is in flight still; no task can give it. */
#define IN_FLIGHT (-EIOCBQUEUED)

static u64 last_request(const struct fifo_view *view)
{
	return READ_ONCE(view->control->request);
}

static bool is_answered(const struct fifo_view *view, u64 number)
{
	/* Pairs with the release by which the task answers: the result is there. */
	return smp_load_acquire(&view->control->answer) == number;
}

/* Whether a request is in flight no more. A task that is gone touches nothing either. */
static bool is_over(const struct fifo_view *view, u64 number)
{
	return is_answered(view, number) || !task_alive(view->task) || !fifo_is_current(view);
}

/*
 * Waits until a request is answered; 0 as well if there is nobody any more who could do that.
 * Without waiting -EAGAIN, after too long a time -ETIMEDOUT.
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

/* Has the task look at a FIFO's request. */
static void kick(const struct fifo_view *view)
{
	atomic64_or(BIT_ULL(view->number), (atomic64_t *)&view->task->share->kicks);
	hypercall(PILLION_HYPERCALL_KICK, view->task->index);
}

/*
 * Waits until the last request of a FIFO is answered, whoever made it: perhaps a Linux that died
 * before it could tell the task.
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

/*
 * Makes the FIFO's handler the caller's, who may then make a request of it. Its words hold one at
 * a time.
 */
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
 * Raises a request; returns its number. Numbers go on where an earlier Linux stopped, or its last
 * answer could look like ours.
 */
static u64 raise(const struct fifo_view *view, u32 kind, u32 command, u64 argument)
{
	struct pillion_fifo_control *control = view->control;
	u64 number = last_request(view) + 1;

	WRITE_ONCE(control->request_kind, kind);
	WRITE_ONCE(control->command, command);
	WRITE_ONCE(control->argument, argument);
	/* The real-time side reads the number first, then what it is about. */
	smp_store_release(&control->request, number);
	kick(view);
	return number;
}

/*
 * Has a request carried out by a handler that was claimed. -ERESTARTSYS or IN_FLIGHT when nobody
 * waits for it any longer.
 */
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
 * Calls the handler, which was claimed, after a read or write that moved data; returns 0, or the
 * negative number that the process is to get.
 */
long handler_call(const struct fifo_view *view, u32 kind, bool nonblock)
{
	long result = request(view, kind, 0, 0, nonblock);

	/* The bytes have moved all the same, and the handler runs without us. */
	return result == -ERESTARTSYS || result == IN_FLIGHT ? 0 : min(result, 0L);
}

/* Whether a request uses the task's place for data. */
static bool carries(u32 kind, u32 command)
{
	return kind == PILLION_REQUEST_IOCTL && _IOC_DIR(command) != _IOC_NONE && _IOC_SIZE(command);
}

/* Waits until no request of any FIFO of a task is in flight that uses the place for data. */
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

/* Calls the handler with data, which it may change. */
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
	/* What was begun cannot be made again as if it had not been. */
	if (result == IN_FLIGHT)
		return -EINPROGRESS;
	return result == -ERESTARTSYS ? -EINTR : result;
}

/* Data from a process to the handler and back. No lock is held while the process's memory comes. */
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

/* Calls the handler of I/O controls, with the data that the command says it carries. */
long handler_ioctl(const struct fifo_view *view, unsigned int command, unsigned long argument,
		   bool nonblock)
{
	if (carries(PILLION_REQUEST_IOCTL, command))
		return with_data(view, command, argument, nonblock);
	return claim_and_carry(view, command, argument, NULL, nonblock);
}
