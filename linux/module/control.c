// SPDX-License-Identifier: GPL-2.0-only
/* The device /dev/pillion, for that command: what tasks do and print, and their start and end. */
#include <linux/compat.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <pillion_control.h>

#include "command.h"
#include "control.h"
#include "dual.h"
#include "fifo.h"
#include "journal.h"
#include "log.h"
#include "psc_fifo.h"
#include "rtf.h"
#include "window.h"

/* Waits until a task leaves a state. After a signal the real-time side continues without us. */
static int wait_while(const struct task *task, u32 state)
{
	while (task_state(task) == state)
		if (msleep_interruptible(10) && signal_pending(current))
			return -EINTR;
	return 0;
}

static long load(struct task *task, const char *parameters)
{
	long result;

	/* What processes still have mapped of an earlier load would belong to another one. */
	if (psc_fifo_is_mapped(task))
		return -EBUSY;
	/* Its FIFOs are where others were. */
	fifo_stop_copying();
	if (task == dual_task)
		dual_stop_offering();
	result = command(PILLION_COMMAND_LOAD, task->name, parameters, 0);
	if (task == dual_task)
		dual_go_on_offering();
	fifo_go_on_copying();
	if (result < 0)
		return result;
	result = wait_while(task, PILLION_TASK_STARTING);
	if (result || task_state(task) == PILLION_TASK_RUNNING)
		return result;
	result = READ_ONCE(window.directory->tasks[task->index].result);
	return result < 0 && result >= -EHWPOISON ? result : -EIO;
}

/* On failure, the reason is in the journal. */
static long load_and_tell(struct task *task, const char *parameters)
{
	long result = load(task, parameters);

	if (result < 0)
		log_settle();
	return result;
}

static long unload(struct task *task)
{
	long result = rtf_unload(task);

	return result < 0 ? result : wait_while(task, PILLION_TASK_STOPPING);
}

static long start_or_end(unsigned int number, const void __user *user)
{
	struct pillion_control_task request;
	struct task *task;

	if (copy_from_user(&request, user, sizeof(request)))
		return -EFAULT;
	request.name[sizeof(request.name) - 1] = '\0';
	request.parameters[sizeof(request.parameters) - 1] = '\0';
	task = window_find(request.name);
	if (!task)
		return -ENOENT;
	return number == PILLION_IOC_LOAD ? load_and_tell(task, request.parameters) : unload(task);
}

static long control_ioctl(struct file *file, unsigned int number, unsigned long argument)
{
	switch (number) {
	case PILLION_IOC_REFRESH:
		return command(PILLION_COMMAND_REFRESH, "", "", 0);
	case PILLION_IOC_LOAD:
	case PILLION_IOC_UNLOAD:
		if (!(file->f_mode & FMODE_WRITE))
			return -EBADF;
		return start_or_end(number, (const void __user *)argument);
	default:
		return -ENOTTY;
	}
}

/* The window. A shared mapping of a file that was not opened for writing stays read-only. */
static int control_mmap(struct file *file, struct vm_area_struct *vma)
{
	if ((file->f_mode & FMODE_WRITE) || !(vma->vm_flags & VM_MAYSHARE))
		return -EPERM;
	/* What follows is between Linux's kernel and the task that runs handlers. */
	return window_mmap(vma, vma->vm_pgoff, 0, window.psc);
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.read = journal_read,
	.poll = journal_poll,
	.mmap = control_mmap,
	.unlocked_ioctl = control_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "pillion",
	.fops = &operations,
};

int control_open(void)
{
	return misc_register(&device);
}

void control_close(void)
{
	misc_deregister(&device);
}
