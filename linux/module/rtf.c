// SPDX-License-Identifier: GPL-2.0-only
/* The devices /dev/rtf0 to /dev/rtf63: FIFOs as RTLinux's programs know them. */
#include <linux/cdev.h>
#include <linux/compat.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/ioctls.h>

#include "command.h"
#include "dual_file.h"
#include "fifo.h"
#include "handler.h"
#include "rtf.h"

#define MAJOR_NUMBER 150

/*
 * An open file: its FIFO, as it was found at open, and as threads in primary mode find it, unless
 * there are too many.
 */
struct handle {
	struct pillion_dual_open_fifo *shown;
	struct fifo_view opened;
};

/* What threads in primary mode find, whole pages of Linux's memory. Guarded by `users_lock`. */
static struct pillion_dual_open_fifo *shown;

#define SHOWN_BYTES (PILLION_DUAL_FILE_FIFOS * sizeof(*shown))

/*
 * The users of a FIFO: one process, with any number of files. Files of a FIFO that is gone do not
 * count, even if another has its number.
 */
static struct {
	struct fifo_view opened;
	struct pid *process;
	unsigned int files;
} users[PILLION_CHANNEL_FIFOS];

/* Guards `users`. No FIFO is opened while a task is asked to end. */
static DEFINE_MUTEX(users_lock);

/* The FIFO of an open file; -ENODEV if it is gone, even if another has its number. */
static int view_of(struct file *file, struct fifo_view *view)
{
	const struct handle *handle = file->private_data;
	int error = fifo_view(handle->opened.number, view);

	if (error)
		return error;
	return fifo_is_same(view, &handle->opened) ? 0 : -ENODEV;
}

/* The FIFO from which reads of an open file take. */
static int source_of(struct file *file, struct fifo_view *view)
{
	int error = view_of(file, view);
	const struct task *task;
	u32 from;

	if (error || view->read_from == view->number)
		return error;
	from = view->read_from;
	task = view->task;
	error = from < PILLION_CHANNEL_FIFOS ? fifo_view(from, view) : -ENODEV;
	if (error)
		return error;
	/* The task states the number, and has no say over others' FIFOs. */
	return view->task == task ? 0 : -ENODEV;
}

/* Calls the FIFO's handler, if there is one, after bytes were moved. */
static ssize_t handled(const struct fifo_view *view, u32 kind, ssize_t size, bool nonblock)
{
	long result;

	if (size <= 0 || !handler_is_there(view))
		return size;
	result = handler_call(view, kind, nonblock);
	return result ? result : size;
}

/* Takes what is there, then calls the handler, claimed first so that it learns of each read. */
static ssize_t take_some(const struct fifo_view *view, char __user *buffer, size_t count,
			 bool nonblock)
{
	ssize_t size;
	int error;

	if (!handler_is_there(view))
		return fifo_take(view, buffer, count);
	error = handler_claim(view, nonblock);
	if (error)
		return error;
	size = handled(view, PILLION_REQUEST_READ, fifo_take(view, buffer, count), nonblock);
	handler_release(view);
	return size;
}

static ssize_t rtf_read(struct file *file, char __user *buffer, size_t count, loff_t *offset)
{
	bool nonblock = file->f_flags & O_NONBLOCK;
	struct fifo_view view;
	ssize_t size;
	long result;

	if (!count)
		return 0;
	for (;;) {
		result = source_of(file, &view);
		if (result)
			return result;
		size = take_some(&view, buffer, count, nonblock);
		if (size)
			return size;
		if (!task_alive(view.task))
			return -EIO;
		/* RTLinux returns 0, not EAGAIN. */
		if (nonblock)
			return 0;
		if (!handler_is_there(&view) && dual_file_enter(&result))
			return result;
		result = fifo_wait_data(&view);
		if (result)
			return result;
	}
}

/* Puts in what fits, then calls the handler, as in take_some(). */
static ssize_t put_and_tell(const struct fifo_view *view, const char __user *buffer, size_t count,
			    size_t least, bool nonblock)
{
	ssize_t size;
	int error;

	if (!handler_is_there(view))
		return fifo_put(view, buffer, count, least);
	error = handler_claim(view, nonblock);
	if (error)
		return error;
	size = handled(view, PILLION_REQUEST_WRITE, fifo_put(view, buffer, count, least), nonblock);
	handler_release(view);
	return size;
}

/*
 * Puts in what fits, up to `count` bytes, waiting if it must; a message that fits goes in whole. A
 * thread that waited in primary mode is elsewhere then, and continues with what is returned.
 */
static ssize_t put_some(struct file *file, const char __user *buffer, size_t count, bool first,
			bool *is_elsewhere)
{
	bool nonblock = file->f_flags & O_NONBLOCK;
	struct fifo_view view;
	ssize_t size;
	size_t least;
	long result;

	for (;;) {
		result = view_of(file, &view);
		if (result)
			return result;
		if (!task_alive(view.task))
			return -EIO;
		least = first && count <= view.to_task.size ? count : 1;
		size = put_and_tell(&view, buffer, count, least, nonblock);
		if (size)
			return size;
		if (nonblock)
			return -EAGAIN;
		*is_elsewhere = first && least == count && !handler_is_there(&view) && dual_file_enter(&result);
		if (*is_elsewhere)
			return result;
		result = fifo_wait_room(&view, least);
		if (result)
			return result;
	}
}

static ssize_t rtf_write(struct file *file, const char __user *buffer, size_t count, loff_t *offset)
{
	bool is_elsewhere = false;
	size_t done = 0;
	ssize_t size;

	while (done < count) {
		size = put_some(file, buffer + done, count - done, !done, &is_elsewhere);
		if (is_elsewhere)
			return size;
		if (size < 0)
			return done ? done : size;
		done += size;
	}
	return done;
}

/* Whether a non-blocking call would be refused because the handler is busy with an earlier one. */
static bool is_busy(const struct fifo_view *view)
{
	return handler_is_there(view) && !handler_is_free(view);
}

static __poll_t poll_read(struct file *file, poll_table *table, __poll_t wanted)
{
	struct fifo_view view;

	if (source_of(file, &view))
		return EPOLLERR | EPOLLHUP;
	poll_wait(file, &view.fifo->wait, table);
	if (wanted & (EPOLLIN | EPOLLRDNORM))
		fifo_want(&view.control->want_data);
	if (fifo_fill(&view))
		return is_busy(&view) ? 0 : EPOLLIN | EPOLLRDNORM;
	return task_alive(view.task) ? 0 : EPOLLERR | EPOLLHUP;
}

static __poll_t poll_write(struct file *file, poll_table *table, __poll_t wanted)
{
	struct fifo_view view;

	if (view_of(file, &view))
		return EPOLLERR | EPOLLHUP;
	poll_wait(file, &view.fifo->wait, table);
	if (wanted & (EPOLLOUT | EPOLLWRNORM))
		fifo_want(&view.control->want_room);
	/* Nothing makes room any more, or takes what is put. */
	if (!task_alive(view.task))
		return EPOLLERR | EPOLLHUP;
	return ring_room(&view.to_task) && !is_busy(&view) ? EPOLLOUT | EPOLLWRNORM : 0;
}

static __poll_t rtf_poll(struct file *file, poll_table *table)
{
	__poll_t wanted = poll_requested_events(table);
	__poll_t ready = 0;

	if (file->f_mode & FMODE_READ)
		ready |= poll_read(file, table, wanted);
	if (file->f_mode & FMODE_WRITE)
		ready |= poll_write(file, table, wanted);
	return ready;
}

static long rtf_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct fifo_view view;
	int error = view_of(file, &view);

	if (error)
		return error;
	if (view.flags & PILLION_FIFO_IOCTL)
		return task_alive(view.task) ? handler_ioctl(&view, command, argument,
							     file->f_flags & O_NONBLOCK) : -EIO;
	if (command != FIONREAD)
		return 0;
	error = source_of(file, &view);
	return error ? error : put_user((int)fifo_fill(&view), (int __user *)argument);
}

/* Whether a process has this very FIFO open. */
static bool is_open(const struct fifo_view *view)
{
	return users[view->number].files && fifo_is_same(&users[view->number].opened, view);
}

/* Drops the files of a FIFO that is gone. */
static void forget(unsigned int number)
{
	put_pid(users[number].process);
	memset(&users[number], 0, sizeof(users[number]));
}

/* Counts a file of this process; -EACCES if another process has the FIFO open. */
static int count(const struct fifo_view *view)
{
	unsigned int number = view->number;

	if (!is_open(view))
		forget(number);
	if (users[number].files && users[number].process != task_tgid(current))
		return -EACCES;
	if (!users[number].files++) {
		users[number].process = get_pid(task_tgid(current));
		users[number].opened = *view;
	}
	WRITE_ONCE(view->control->opens, 1);
	return 0;
}

static void uncount(const struct fifo_view *view)
{
	mutex_lock(&users_lock);
	if (is_open(view) && !--users[view->number].files) {
		forget(view->number);
		if (fifo_is_current(view))
			WRITE_ONCE(view->control->opens, 0);
	}
	mutex_unlock(&users_lock);
}

/* Shows an open file to threads in primary mode, in a free place; NULL: there is none. */
static struct pillion_dual_open_fifo *show(const struct fifo_view *opened, struct file *file)
{
	struct pillion_dual_open_fifo *entry = shown;

	while (entry < shown + PILLION_DUAL_FILE_FIFOS && READ_ONCE(entry->key))
		entry++;
	if (entry == shown + PILLION_DUAL_FILE_FIFOS)
		return NULL;
	/* Whoever still looks at the file that was here before sees that it is gone. */
	WRITE_ONCE(entry->turn, entry->turn + 1);
	smp_wmb();
	entry->number = opened->number;
	entry->generation = opened->generation;
	entry->task = opened->task->index;
	entry->mode = file->f_mode & (PILLION_DUAL_FILE_READ | PILLION_DUAL_FILE_WRITE);
	smp_store_release(&entry->key, (u64)file);
	return entry;
}

static int rtf_file_open(struct inode *inode, struct file *file)
{
	struct handle *handle = kmalloc(sizeof(*handle), GFP_KERNEL);
	int error;

	if (!handle)
		return -ENOMEM;
	mutex_lock(&users_lock);
	error = fifo_view(iminor(inode), &handle->opened);
	if (!error)
		error = task_alive(handle->opened.task) ? count(&handle->opened) : -ENODEV;
	if (!error)
		handle->shown = show(&handle->opened, file);
	mutex_unlock(&users_lock);
	if (error) {
		kfree(handle);
		return error;
	}
	file->private_data = handle;
	return stream_open(inode, file);
}

static int rtf_release(struct inode *inode, struct file *file)
{
	struct handle *handle = file->private_data;

	if (handle->shown)
		WRITE_ONCE(handle->shown->key, 0);
	uncount(&handle->opened);
	kfree(handle);
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = rtf_file_open,
	.release = rtf_release,
	.read = rtf_read,
	.write = rtf_write,
	.poll = rtf_poll,
	.unlocked_ioctl = rtf_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* Whether a file is one of these, and threads in primary mode find it. */
bool rtf_is_shown(const struct file *file)
{
	return file->f_op == &operations && ((const struct handle *)file->private_data)->shown;
}

/* Tells the task of dual mode how it finds these files. */
void rtf_state(struct pillion_dual_descriptors *told)
{
	told->file_mode = offsetof(struct file, f_mode);
	told->file_operations = offsetof(struct file, f_op);
	told->file_data = offsetof(struct file, private_data);
	told->fifos = (u64)shown;
}

static bool in_use(const struct task *task)
{
	struct fifo_view view;
	unsigned int i;

	for (i = 0; i < PILLION_CHANNEL_FIFOS; i++)
		if (!fifo_view(i, &view) && view.task == task && is_open(&view))
			return true;
	return false;
}

/* Has the manager end a task, unless a process has one of its FIFOs open and it has not faulted. */
int rtf_unload(struct task *task)
{
	int error = -EBUSY;

	mutex_lock(&users_lock);
	if (!in_use(task) || task_state(task) == PILLION_TASK_FAULTED) {
		fifo_stop_copying();
		error = command(PILLION_COMMAND_UNLOAD, task->name, "", 0);
		fifo_go_on_copying();
	}
	mutex_unlock(&users_lock);
	return error;
}

/* Without `owner` and `devnode`, which differ between kernels. */
static struct class class = { .name = "rtf" };
static struct cdev device;

static void remove_nodes(unsigned int count)
{
	while (count--)
		device_destroy(&class, MKDEV(MAJOR_NUMBER, count));
}

static int make_nodes(void)
{
	struct device *node;
	unsigned int i;

	for (i = 0; i < PILLION_CHANNEL_FIFOS; i++) {
		node = device_create(&class, NULL, MKDEV(MAJOR_NUMBER, i), NULL, "rtf%u", i);
		if (IS_ERR(node)) {
			remove_nodes(i);
			return PTR_ERR(node);
		}
	}
	return 0;
}

int rtf_open(void)
{
	int error = -ENOMEM;

	shown = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(SHOWN_BYTES));
	if (!shown)
		return error;
	error = register_chrdev_region(MKDEV(MAJOR_NUMBER, 0), PILLION_CHANNEL_FIFOS, "rtf");
	if (error)
		goto free;
	error = class_register(&class);
	if (error)
		goto unregister;
	cdev_init(&device, &operations);
	device.owner = THIS_MODULE;
	error = cdev_add(&device, MKDEV(MAJOR_NUMBER, 0), PILLION_CHANNEL_FIFOS);
	if (error)
		goto remove_class;
	error = make_nodes();
	if (!error)
		return 0;
	cdev_del(&device);
remove_class:
	class_unregister(&class);
unregister:
	unregister_chrdev_region(MKDEV(MAJOR_NUMBER, 0), PILLION_CHANNEL_FIFOS);
free:
	free_pages((unsigned long)shown, get_order(SHOWN_BYTES));
	return error;
}

void rtf_close(void)
{
	remove_nodes(PILLION_CHANNEL_FIFOS);
	cdev_del(&device);
	class_unregister(&class);
	unregister_chrdev_region(MKDEV(MAJOR_NUMBER, 0), PILLION_CHANNEL_FIFOS);
	free_pages((unsigned long)shown, get_order(SHOWN_BYTES));
}
