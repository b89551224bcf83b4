// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices /dev/rtp0 to /dev/rtp31: message pipes to processes with threads in primary mode,
 * which own them through /dev/rtp.
 */
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <pillion_pipe.h>

#include "rtp.h"

/* The node through which pipes are owned comes after those of the other ends. */
#define NODES (PILLION_PIPES + 1)

struct message {
	struct list_head link;
	size_t size;
	/* Bytes of it that were read. */
	size_t read;
	char text[];
};

/* The end of a pipe at the process that owns it, and the other one. */
enum { OWNER, OTHER, ENDS };

/* What comes out at an end. */
struct outlet {
	struct list_head messages;
	/* Of the messages, and of what is being read of others. */
	size_t bytes;
	/* How often all messages were dropped. */
	unsigned long drops;
};

struct pipe {
	/* Guards all of it. Nobody who has it accesses a process's memory: that can last. */
	struct mutex lock;
	/* Whether a file is at that end. */
	bool there[ENDS];
	struct outlet outlets[ENDS];
	wait_queue_head_t changed;
};

static struct pipe pipes[PILLION_PIPES];

/* An open file. */
struct handle {
	/* NULL: it owns no pipe yet. */
	struct pipe *pipe;
	int end;
};

static void drop(struct outlet *outlet)
{
	struct message *message, *next;

	list_for_each_entry_safe(message, next, &outlet->messages, link) {
		list_del(&message->link);
		kvfree(message);
	}
	outlet->bytes = 0;
	outlet->drops++;
}

static bool has_message(const struct outlet *outlet)
{
	return !list_empty(&outlet->messages);
}

static bool has_room(const struct outlet *outlet, size_t size)
{
	return !outlet->bytes || outlet->bytes + size <= PILLION_PIPE_BYTES;
}

/* Takes the first message, if there is one. The lock is held. */
static struct message *take(struct outlet *outlet)
{
	struct message *message = list_first_entry_or_null(&outlet->messages, struct message, link);

	if (message)
		list_del(&message->link);
	return message;
}

/* Puts the rest of a message back, of which so much was read, unless it was dropped meanwhile. */
static void settle(struct pipe *pipe, struct outlet *outlet, struct message *message, size_t count,
		   unsigned long drops)
{
	bool is_dropped, stays;

	message->read += count;
	mutex_lock(&pipe->lock);
	is_dropped = outlet->drops != drops;
	stays = !is_dropped && message->read < message->size;
	if (!is_dropped)
		outlet->bytes -= count;
	if (stays)
		list_add(&message->link, &outlet->messages);
	mutex_unlock(&pipe->lock);
	if (!stays)
		kvfree(message);
	/* There is room again, or the rest for another reader. */
	wake_up_interruptible(&pipe->changed);
}

/* Reads from a message that was taken when there had been so many drops. */
static ssize_t give(struct pipe *pipe, struct outlet *outlet, struct message *message, unsigned long drops,
		    char __user *buffer, size_t count)
{
	count = min(count, message->size - message->read);
	if (copy_to_user(buffer, message->text + message->read, count)) {
		settle(pipe, outlet, message, 0, drops);
		return -EFAULT;
	}
	settle(pipe, outlet, message, count, drops);
	return count;
}

static ssize_t rtp_read(struct file *file, char __user *buffer, size_t count, loff_t *offset)
{
	struct handle *handle = file->private_data;
	struct pipe *pipe = READ_ONCE(handle->pipe);
	struct message *message;
	ssize_t result = -EAGAIN;
	struct outlet *outlet;
	unsigned long drops;

	if (!pipe)
		return -ENOTCONN;
	outlet = &pipe->outlets[handle->end];
	do {
		if (mutex_lock_interruptible(&pipe->lock))
			return -ERESTARTSYS;
		message = take(outlet);
		drops = outlet->drops;
		if (!message && handle->end == OTHER && !pipe->there[OWNER])
			result = -EPIPE;
		mutex_unlock(&pipe->lock);
		if (message)
			return give(pipe, outlet, message, drops, buffer, count);
		if (result != -EAGAIN || file->f_flags & O_NONBLOCK)
			return result;
	} while (!wait_event_interruptible(pipe->changed, has_message(outlet) || !READ_ONCE(pipe->there[OWNER])));
	return -ERESTARTSYS;
}

static struct message *copy(const char __user *buffer, size_t count)
{
	struct message *message = kvmalloc(struct_size(message, text, count), GFP_KERNEL_ACCOUNT);

	if (!message)
		return ERR_PTR(-ENOMEM);
	message->size = count;
	message->read = 0;
	if (!copy_from_user(message->text, buffer, count))
		return message;
	kvfree(message);
	return ERR_PTR(-EFAULT);
}

static ssize_t put(struct file *file, struct pipe *pipe, struct message *message)
{
	struct handle *handle = file->private_data;
	struct outlet *outlet = &pipe->outlets[!handle->end];
	ssize_t result = -EAGAIN;

	do {
		if (mutex_lock_interruptible(&pipe->lock))
			return -ERESTARTSYS;
		if (!pipe->there[OWNER]) {
			result = -EPIPE;
		} else if (has_room(outlet, message->size)) {
			list_add_tail(&message->link, &outlet->messages);
			outlet->bytes += message->size;
			result = message->size;
		}
		mutex_unlock(&pipe->lock);
		if (result != -EAGAIN || file->f_flags & O_NONBLOCK)
			return result;
	} while (!wait_event_interruptible(pipe->changed,
					   has_room(outlet, message->size) || !READ_ONCE(pipe->there[OWNER])));
	return -ERESTARTSYS;
}

static ssize_t rtp_write(struct file *file, const char __user *buffer, size_t count, loff_t *offset)
{
	struct handle *handle = file->private_data;
	struct pipe *pipe = READ_ONCE(handle->pipe);
	struct message *message;
	ssize_t result;

	if (!pipe)
		return -ENOTCONN;
	if (!count)
		return 0;
	if (count > PILLION_PIPE_MESSAGE)
		return -EMSGSIZE;
	message = copy(buffer, count);
	if (IS_ERR(message))
		return PTR_ERR(message);
	result = put(file, pipe, message);
	if (result < 0)
		kvfree(message);
	else
		wake_up_interruptible(&pipe->changed);
	return result;
}

static __poll_t rtp_poll(struct file *file, poll_table *table)
{
	struct handle *handle = file->private_data;
	struct pipe *pipe = READ_ONCE(handle->pipe);
	__poll_t events = 0;

	if (!pipe)
		return EPOLLERR;
	poll_wait(file, &pipe->changed, table);
	mutex_lock(&pipe->lock);
	if (has_message(&pipe->outlets[handle->end]))
		events |= EPOLLIN | EPOLLRDNORM;
	if (!pipe->there[OWNER])
		events |= EPOLLHUP;
	else if (has_room(&pipe->outlets[!handle->end], 1))
		events |= EPOLLOUT | EPOLLWRNORM;
	mutex_unlock(&pipe->lock);
	return events;
}

/* Takes an end of a pipe, if it is free. */
static bool claim(struct pipe *pipe, int end)
{
	bool is_free;

	mutex_lock(&pipe->lock);
	is_free = !pipe->there[end];
	WRITE_ONCE(pipe->there[end], true);
	/* What the owner before this one left. */
	if (is_free && end == OWNER)
		drop(&pipe->outlets[OTHER]);
	mutex_unlock(&pipe->lock);
	if (is_free)
		wake_up_interruptible(&pipe->changed);
	return is_free;
}

static long bind(struct handle *handle, long number)
{
	long first = number == -1 ? 0 : number, last = number == -1 ? PILLION_PIPES - 1 : number, i;

	if (first < 0 || last >= PILLION_PIPES)
		return -EINVAL;
	for (i = first; i <= last; i++)
		if (claim(&pipes[i], OWNER)) {
			if (!cmpxchg(&handle->pipe, NULL, &pipes[i]))
				return i;
			/* Another thread was faster with this file. */
			mutex_lock(&pipes[i].lock);
			WRITE_ONCE(pipes[i].there[OWNER], false);
			mutex_unlock(&pipes[i].lock);
			wake_up_interruptible(&pipes[i].changed);
			return -EINVAL;
		}
	return -EBUSY;
}

static long clear(struct pipe *pipe, int end)
{
	mutex_lock(&pipe->lock);
	drop(&pipe->outlets[end]);
	mutex_unlock(&pipe->lock);
	wake_up_interruptible(&pipe->changed);
	return 0;
}

static long rtp_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct handle *handle = file->private_data;
	struct pipe *pipe = READ_ONCE(handle->pipe);

	if (command == PILLION_IOC_PIPE_BIND && handle->end == OWNER)
		return pipe ? -EINVAL : bind(handle, (int)argument);
	if (!pipe)
		return -ENOTTY;
	switch (command) {
	case PILLION_IOC_PIPE_NUMBER:
		return put_user((int)(pipe - pipes), (int __user *)argument);
	case PILLION_IOC_PIPE_DROP_WRITTEN:
		return clear(pipe, OWNER);
	case PILLION_IOC_PIPE_DROP_UNREAD:
		return clear(pipe, OTHER);
	default:
		return -ENOTTY;
	}
}

/* Whoever opens the other end waits until somebody owns the pipe. */
static int reach(struct file *file, struct pipe *pipe)
{
	if (!READ_ONCE(pipe->there[OWNER]) && file->f_flags & O_NONBLOCK)
		return -EWOULDBLOCK;
	if (wait_event_interruptible(pipe->changed, READ_ONCE(pipe->there[OWNER])))
		return -ERESTARTSYS;
	return claim(pipe, OTHER) ? 0 : -EBUSY;
}

static int rtp_file_open(struct inode *inode, struct file *file)
{
	unsigned int number = iminor(inode) - MINOR(inode->i_cdev->dev);
	struct handle *handle = kzalloc(sizeof(*handle), GFP_KERNEL_ACCOUNT);
	int error = 0;

	if (!handle)
		return -ENOMEM;
	if (number < PILLION_PIPES) {
		handle->end = OTHER;
		handle->pipe = &pipes[number];
		error = reach(file, handle->pipe);
	}
	if (error)
		kfree(handle);
	else
		file->private_data = handle;
	return error ? error : stream_open(inode, file);
}

static int rtp_release(struct inode *inode, struct file *file)
{
	struct handle *handle = file->private_data;
	struct pipe *pipe = handle->pipe;

	if (pipe) {
		mutex_lock(&pipe->lock);
		WRITE_ONCE(pipe->there[handle->end], false);
		/* What the owner sent can be read after it has gone. */
		drop(&pipe->outlets[handle->end]);
		mutex_unlock(&pipe->lock);
		wake_up_interruptible(&pipe->changed);
	}
	kfree(handle);
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = rtp_file_open,
	.release = rtp_release,
	.read = rtp_read,
	.write = rtp_write,
	.poll = rtp_poll,
	.unlocked_ioctl = rtp_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct class class = { .name = "rtp" };
static struct cdev device;
static dev_t first;

static void remove_nodes(unsigned int count)
{
	while (count--)
		device_destroy(&class, first + count);
}

static int make_nodes(void)
{
	struct device *node;
	unsigned int i;

	for (i = 0; i < NODES; i++) {
		if (i < PILLION_PIPES)
			node = device_create(&class, NULL, first + i, NULL, "rtp%u", i);
		else
			node = device_create(&class, NULL, first + i, NULL, "rtp");
		if (IS_ERR(node)) {
			remove_nodes(i);
			return PTR_ERR(node);
		}
	}
	return 0;
}

static void prepare(struct pipe *pipe)
{
	int end;

	mutex_init(&pipe->lock);
	init_waitqueue_head(&pipe->changed);
	for (end = 0; end < ENDS; end++)
		INIT_LIST_HEAD(&pipe->outlets[end].messages);
}

int rtp_open(void)
{
	unsigned int i;
	int error;

	for (i = 0; i < PILLION_PIPES; i++)
		prepare(&pipes[i]);
	error = alloc_chrdev_region(&first, 0, NODES, "rtp");
	if (error)
		return error;
	error = class_register(&class);
	if (error)
		goto unregister;
	cdev_init(&device, &operations);
	device.owner = THIS_MODULE;
	error = cdev_add(&device, first, NODES);
	if (error)
		goto remove_class;
	error = make_nodes();
	if (!error)
		return 0;
	cdev_del(&device);
remove_class:
	class_unregister(&class);
unregister:
	unregister_chrdev_region(first, NODES);
	return error;
}

void rtp_close(void)
{
	unsigned int i;

	remove_nodes(NODES);
	cdev_del(&device);
	class_unregister(&class);
	unregister_chrdev_region(first, NODES);
	/* What an owner left, and nobody read. */
	for (i = 0; i < PILLION_PIPES; i++)
		drop(&pipes[i].outlets[OTHER]);
}
