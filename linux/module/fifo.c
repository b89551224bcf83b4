// SPDX-License-Identifier: GPL-2.0-only
/* Looks at FIFOs, copies out of and into them, and waits for them. */
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "fifo.h"

/*
 * A waiting process looks again after so long, in case the real-time side was too broken to ring.
 */
#define RECHECK (HZ / 10)

/* How often bytes are copied anew because the real-time side took them meanwhile. */
#define TAKE_TRIES 8

static struct fifo fifos[PILLION_CHANNEL_FIFOS];

/* Forgets what an earlier Linux, or an earlier load of this module, wanted. */
static void reset(struct pillion_fifo_control *control)
{
	WRITE_ONCE(control->want_data, 0);
	WRITE_ONCE(control->want_room, 0);
	WRITE_ONCE(control->opens, 0);
}

void fifo_init(void)
{
	unsigned int i, task;

	for (i = 0; i < PILLION_CHANNEL_FIFOS; i++) {
		init_waitqueue_head(&fifos[i].wait);
		mutex_init(&fifos[i].take);
		mutex_init(&fifos[i].put);
		mutex_init(&fifos[i].request);
		for (task = 0; task < window.task_count; task++)
			reset(&window.tasks[task].share->fifos[i]);
	}
}

static struct task *owner_of(unsigned int number)
{
	unsigned int owner = READ_ONCE(window.directory->fifo_owner[number]);

	return owner && owner <= window.task_count ? &window.tasks[owner - 1] : NULL;
}

/*
 * A ring's data is behind the control words, in the task's own part. The task wrote size and
 * offset, and may be broken.
 */
static bool place(const struct task *task, struct ring *ring, u64 offset, u64 size)
{
	if (size > task->share_size || offset < sizeof(*task->share) ||
	    offset > task->share_size - size)
		return false;
	ring->data = (u8 *)task->share + offset;
	ring->size = size;
	return true;
}

/* Looks up a FIFO; -ENODEV if it was not made. */
int fifo_view(unsigned int number, struct fifo_view *view)
{
	struct task *task = owner_of(number);
	const struct pillion_fifo_entry *entry;
	u32 size;

	if (!task)
		return -ENODEV;
	entry = &task->status->fifos[number];
	/* The task writes the size last. */
	size = smp_load_acquire(&entry->size);
	if (!size || !place(task, &view->to_linux, READ_ONCE(entry->to_linux), size) ||
	    !place(task, &view->to_task, READ_ONCE(entry->to_task), size))
		return -ENODEV;
	view->fifo = &fifos[number];
	view->task = task;
	view->control = &task->share->fifos[number];
	view->to_linux.written = &view->control->to_linux_written;
	view->to_linux.read = &view->control->to_linux_read;
	view->to_task.written = &view->control->to_task_written;
	view->to_task.read = &view->control->to_task_read;
	view->number = number;
	view->generation = READ_ONCE(entry->generation);
	view->flags = READ_ONCE(entry->flags);
	view->read_from = READ_ONCE(entry->read_from);
	return 0;
}

static ssize_t take_from(const struct ring *ring, char __user *buffer, size_t count)
{
	struct ring_span span;
	u64 size;
	int i;

	for (i = 0; i < TAKE_TRIES; i++) {
		size = ring_readable(ring, &span, count);
		if (!size)
			return 0;
		if (copy_to_user(buffer, span.piece[0], span.length[0]) ||
		    copy_to_user(buffer + span.length[0], span.piece[1], span.length[1]))
			return -EFAULT;
		if (ring_consume(ring, &span, size))
			return size;
	}
	return 0;
}

/*
 * Takes out what is there, up to `count` bytes: what the task put, then what a process put and the
 * task has not taken.
 */
ssize_t fifo_take(const struct fifo_view *view, char __user *buffer, size_t count)
{
	ssize_t first, second;

	if (mutex_lock_interruptible(&view->fifo->take))
		return -ERESTARTSYS;
	first = take_from(&view->to_linux, buffer, count);
	if (first >= 0 && first < count) {
		second = take_from(&view->to_task, buffer + first, count - first);
		if (second > 0)
			wake_up_interruptible(&view->fifo->wait);
		if (second > 0 || !first)
			first += second;
	}
	mutex_unlock(&view->fifo->take);
	return first;
}

/*
 * Puts in up to `count` bytes if there is room for at least `least`, which is not 0; returns how
 * many.
 */
ssize_t fifo_put(const struct fifo_view *view, const char __user *buffer, size_t count,
		 size_t least)
{
	struct ring_span span;
	ssize_t size;

	if (mutex_lock_interruptible(&view->fifo->put))
		return -ERESTARTSYS;
	size = ring_writable(&view->to_task, &span, count);
	if (size < least)
		size = 0;
	else if (copy_from_user(span.piece[0], buffer, span.length[0]) ||
		 copy_from_user(span.piece[1], buffer + span.length[0], span.length[1]))
		size = -EFAULT;
	else
		ring_publish(&view->to_task, &span, size);
	mutex_unlock(&view->fifo->put);
	if (size > 0)
		wake_up_interruptible(&view->fifo->wait);
	return size;
}

/* Sleeps until the FIFO rings, unless what is waited for is there already. */
static int nap(const struct fifo_view *view, u32 *want,
	       u64 (*amount)(const struct fifo_view *view), u64 enough)
{
	DEFINE_WAIT(wait);

	prepare_to_wait(&view->fifo->wait, &wait, TASK_INTERRUPTIBLE);
	fifo_want(want);
	if (amount(view) < enough)
		schedule_timeout(RECHECK);
	finish_wait(&view->fifo->wait, &wait);
	return signal_pending(current) ? -ERESTARTSYS : 0;
}

static u64 data(const struct fifo_view *view)
{
	return fifo_fill(view);
}

static u64 room(const struct fifo_view *view)
{
	return ring_room(&view->to_task);
}

/* Waits a while for data. The caller looks at the FIFO again, which may be gone. */
int fifo_wait_data(const struct fifo_view *view)
{
	return nap(view, &view->control->want_data, data, 1);
}

/* Waits a while for room. */
int fifo_wait_room(const struct fifo_view *view, u64 least)
{
	return nap(view, &view->control->want_room, room, least);
}

/* A task has something for the processes at a FIFO. Who still waits after looking says so again. */
void fifo_ring(struct task *task, unsigned int number)
{
	struct pillion_fifo_control *control = &task->share->fifos[number];

	WRITE_ONCE(control->want_data, 0);
	WRITE_ONCE(control->want_room, 0);
	wake_up_interruptible(&fifos[number].wait);
}

/* The state of a task, or the owner of a FIFO, has changed. */
void fifo_ring_all(void)
{
	unsigned int i;

	for (i = 0; i < PILLION_CHANNEL_FIFOS; i++)
		wake_up_interruptible(&fifos[i].wait);
}
