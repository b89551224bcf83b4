// SPDX-License-Identifier: GPL-2.0-only
/* Finds FIFOs, copies from and to them, and waits for them. */
#include <linux/jiffies.h>
#include <linux/pagemap.h>
#include <linux/rwsem.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "dual.h"
#include "fifo.h"
#include "hypercall.h"

/* How often a waiting process checks again, in case the real-time side was too broken to ring. */
#define RECHECK (HZ / 10)

/* How often to retry a copy when the real-time side took the bytes meanwhile. */
#define TAKE_TRIES 8

/* How often to fault in a process's memory that was evicted again before it was copied. */
#define FETCH_TRIES 8

static struct fifo fifos[PILLION_CHANNEL_FIFOS];

/*
 * Copying holds it for reading: rings stay in place while it is not held for writing. Nothing waits
 * for a page fault under it.
 */
static DECLARE_RWSEM(places);

/* Waits until nothing is being copied, and prevents further copying. */
void fifo_stop_copying(void)
{
	down_write(&places);
}

void fifo_go_on_copying(void)
{
	up_write(&places);
}

/*
 * The control words of a FIFO, which both sides use. The task states where they are, and may be
 * broken: then they are those at the task's default place.
 */
static struct pillion_fifo_control *control_of(const struct task *task, unsigned int number)
{
	u64 at = READ_ONCE(task->status->fifos[number].control);

	if (at < offsetof(struct pillion_share, fifos) || !IS_ALIGNED(at, 64) ||
	    at > task->share_size - sizeof(struct pillion_fifo_control))
		return &task->share->fifos[number];
	return (void *)task->share + at;
}

/* Clears what an earlier Linux, or an earlier load of this module, wanted. */
static void reset(struct pillion_fifo_control *control)
{
	WRITE_ONCE(control->want_data, 0);
	WRITE_ONCE(control->want_room, 0);
	WRITE_ONCE(control->opens, 0);
	WRITE_ONCE(control->taking, 0);
	WRITE_ONCE(control->putting, 0);
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
			reset(control_of(&window.tasks[task], i));
	}
}

static struct task *owner_of(unsigned int number)
{
	unsigned int owner = READ_ONCE(window.directory->fifo_owner[number]);

	return owner && owner <= window.task_count ? &window.tasks[owner - 1] : NULL;
}

/*
 * A ring's data comes after the control words, in the task's own part. The task wrote size and
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

/* Looks up a FIFO; -ENODEV if it does not exist. */
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
	view->control = control_of(task, number);
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

/* Whether a FIFO still exists. */
bool fifo_is_current(const struct fifo_view *view)
{
	struct fifo_view now;

	return !fifo_view(view->number, &now) && fifo_is_same(view, &now);
}

/*
 * Enters the rings of a FIFO that was looked up before, to take or to put, which has been written
 * to a word of the FIFO, and looks up where they are now. They stay in place until leave(). From
 * here on page faults fail instead of waiting.
 */
static int enter(const struct fifo_view *before, struct fifo_view *now)
{
	/* The real-time side hides a FIFO, then reads the word; we wrote it, then look it up. */
	smp_mb();
	pagefault_disable();
	if (!fifo_view(before->number, now) && fifo_is_same(before, now))
		return 0;
	return -ENODEV;
}

static void leave(u32 *word)
{
	pagefault_enable();
	/* The copying was done before that. */
	smp_store_release(word, 0);
	up_read(&places);
}

/* Wakes a thread in primary mode that waits for something. */
static void tell_primary(u32 want)
{
	u32 runner = want / PILLION_FIFO_USER_RUNNER;

	if (runner && runner <= PILLION_DUAL_SLOTS)
		hypercall(PILLION_DUAL_SIGNAL, PILLION_DUAL_FIRST_SIGNAL + runner - 1);
}

/* Wakes all that wait at a FIFO which has changed: for data, or for room. */
static void changed(const struct fifo_view *view, const u32 *want)
{
	wake_up_interruptible(&view->fifo->wait);
	/* The change was made before that. */
	smp_mb();
	tell_primary(READ_ONCE(*want));
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

static ssize_t take(const struct fifo_view *view, char __user *buffer, size_t count)
{
	ssize_t second, first = take_from(&view->to_linux, buffer, count);

	if (first < 0 || first == count)
		return first;
	second = take_from(&view->to_task, buffer + first, count - first);
	if (second > 0)
		changed(view, &view->control->want_room);
	return second > 0 || !first ? first + second : first;
}

static ssize_t take_here(const struct fifo_view *view, char __user *buffer, size_t count)
{
	struct fifo_view now;
	ssize_t size;

	down_read(&places);
	WRITE_ONCE(view->control->taking, 1);
	size = enter(view, &now);
	if (!size)
		size = take(&now, buffer, count);
	leave(&view->control->taking);
	return size;
}

/* Takes up to `count` bytes: first the task's, then a process's that the task has not taken. */
ssize_t fifo_take(const struct fifo_view *view, char __user *buffer, size_t count)
{
	size_t most = min_t(u64, count, view->to_linux.size + view->to_task.size);
	ssize_t size;
	int i;

	if (mutex_lock_interruptible(&view->fifo->take))
		return -ERESTARTSYS;
	size = take_here(view, buffer, count);
	/* Absent memory is faulted in outside the rings. */
	for (i = 0; size == -EFAULT && i < FETCH_TRIES; i++) {
		if (fault_in_safe_writeable(buffer, most) == most)
			break;
		size = take_here(view, buffer, count);
	}
	mutex_unlock(&view->fifo->take);
	return size;
}

static ssize_t put(const struct fifo_view *view, const char __user *buffer, size_t count,
		   size_t least)
{
	struct ring_span span;
	ssize_t size = ring_writable(&view->to_task, &span, count);

	if (size < least)
		return 0;
	if (copy_from_user(span.piece[0], buffer, span.length[0]) ||
	    copy_from_user(span.piece[1], buffer + span.length[0], span.length[1]))
		return -EFAULT;
	ring_publish(&view->to_task, &span, size);
	return size;
}

static ssize_t put_here(const struct fifo_view *view, const char __user *buffer, size_t count,
			size_t least)
{
	struct fifo_view now;
	ssize_t size;
	u32 user;

	down_read(&places);
	/*
	 * A thread in primary mode that is putting waits for its next budget. One of a task that
	 * has ended does not go on, and in Linux nobody else puts.
	 */
	while ((user = cmpxchg(&view->control->putting, 0, 1))) {
		bool is_stale = user < PILLION_FIFO_USER_RUNNER || !dual_task || !task_alive(dual_task);

		if (is_stale && cmpxchg(&view->control->putting, user, 1) == user)
			break;
		up_read(&places);
		if (!fifo_is_current(view))
			return -ENODEV;
		schedule_timeout_interruptible(1);
		if (signal_pending(current))
			return -ERESTARTSYS;
		down_read(&places);
	}
	size = enter(view, &now);
	if (!size)
		size = put(&now, buffer, count, min_t(u64, least, now.to_task.size));
	leave(&view->control->putting);
	return size;
}

/* Puts up to `count` bytes if `least`, which is not 0, have room; returns their number. */
ssize_t fifo_put(const struct fifo_view *view, const char __user *buffer, size_t count,
		 size_t least)
{
	size_t most = min_t(u64, count, view->to_task.size);
	ssize_t size;
	int i;

	if (mutex_lock_interruptible(&view->fifo->put))
		return -ERESTARTSYS;
	size = put_here(view, buffer, count, least);
	for (i = 0; size == -EFAULT && i < FETCH_TRIES; i++) {
		if (fault_in_readable(buffer, most) == most)
			break;
		size = put_here(view, buffer, count, least);
	}
	mutex_unlock(&view->fifo->put);
	if (size > 0)
		changed(view, &view->control->want_data);
	return size;
}

/* Sleeps until the FIFO rings, unless there is already enough. */
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

static u64 room(const struct fifo_view *view)
{
	return ring_room(&view->to_task);
}

/* Waits a while for data. The caller must look the FIFO up again, because it may be gone. */
int fifo_wait_data(const struct fifo_view *view)
{
	return nap(view, &view->control->want_data, fifo_fill, 1);
}

/* Waits a while for room. */
int fifo_wait_room(const struct fifo_view *view, u64 least)
{
	return nap(view, &view->control->want_room, room, least);
}

/* Linux does not wait any more. A thread in primary mode looks as well: not each task tells it. */
static void want_no_more(u32 *want)
{
	tell_primary(atomic_fetch_and(~PILLION_FIFO_USER_LINUX, (atomic_t *)want));
}

/* A task has something for the processes at a FIFO. Those that wait after a check ask again. */
void fifo_ring(struct task *task, unsigned int number)
{
	struct pillion_fifo_control *control = control_of(task, number);

	want_no_more(&control->want_data);
	want_no_more(&control->want_room);
	wake_up_interruptible(&fifos[number].wait);
}

/* The state of a task, or the owner of a FIFO, has changed. */
void fifo_ring_all(void)
{
	unsigned int i;

	for (i = 0; i < PILLION_CHANNEL_FIFOS; i++)
		wake_up_interruptible(&fifos[i].wait);
}
