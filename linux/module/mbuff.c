// SPDX-License-Identifier: GPL-2.0-only
/* The device /dev/mbuff: areas of memory that tasks and processes share by name. */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/uaccess.h>

#include "area.h"
#include "mbuff.h"
#include "window.h"

static void *data_of(const struct area *area)
{
	return window.base + window.pool + area->offset;
}

/* The pointer to the selected area in an open file. */
static struct area **selected(struct file *file)
{
	return (struct area **)&file->private_data;
}

static void select(struct file *file, struct area *area)
{
	struct area *before = area_select(selected(file), area);

	if (before)
		area_put(before, &before->files);
}

static int size_of(const struct area *area)
{
	return min_t(u64, area->size, INT_MAX);
}

/* Selects an existing area. */
static long find(struct file *file, const struct mbuff_request_struct *request)
{
	struct area *area = area_find(request->name);

	if (IS_ERR(area))
		return PTR_ERR(area);
	select(file, area);
	return size_of(area);
}

static long allocate(struct file *file, const struct mbuff_request_struct *request)
{
	struct area *area = area_make(request->name, request->size);

	if (IS_ERR(area))
		return PTR_ERR(area);
	select(file, area);
	return size_of(area);
}

static long info(struct mbuff_request_struct *request)
{
	struct area *area = area_find(request->name);
	long result;

	if (IS_ERR(area))
		return PTR_ERR(area);
	area_info(area, request);
	result = size_of(area);
	area_put(area, &area->files);
	return result;
}

static long mbuff_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct mbuff_request_struct request;
	void __user *user = (void __user *)argument;
	long result;

	if (copy_from_user(&request, user, sizeof(request)))
		return -EFAULT;
	request.name[MBUFF_NAME_LEN] = '\0';
	switch (command) {
	case IOCTL_MBUFF_INFO:
		result = info(&request);
		if (result >= 0 && copy_to_user(user, &request, sizeof(request)))
			return -EFAULT;
		return result;
	case IOCTL_MBUFF_ALLOCATE:
		return allocate(file, &request);
	case IOCTL_MBUFF_DEALLOCATE:
		return area_drop(request.name);
	case IOCTL_MBUFF_SELECT:
		return find(file, &request);
	default:
		return -EINVAL;
	}
}

static ssize_t mbuff_read(struct file *file, char __user *buffer, size_t count, loff_t *offset)
{
	struct area *area = area_of(selected(file));
	ssize_t size;

	if (!area)
		return -EAGAIN;
	size = simple_read_from_buffer(buffer, count, offset, data_of(area), area->size);
	area_put(area, &area->files);
	return size;
}

static ssize_t mbuff_write(struct file *file, const char __user *buffer, size_t count,
			   loff_t *offset)
{
	struct area *area = area_of(selected(file));
	ssize_t size;

	if (!area)
		return -EAGAIN;
	size = simple_write_to_buffer(data_of(area), area->size, offset, buffer, count);
	area_put(area, &area->files);
	return size || !count ? size : -ENOSPC;
}

static loff_t mbuff_llseek(struct file *file, loff_t offset, int whence)
{
	struct area *area = area_of(selected(file));
	loff_t result;

	if (!area)
		return -EAGAIN;
	result = fixed_size_llseek(file, offset, whence, area->size);
	area_put(area, &area->files);
	return result;
}

static void map_opened(struct vm_area_struct *vma)
{
	area_map(vma->vm_private_data);
}

static void map_closed(struct vm_area_struct *vma)
{
	struct area *area = vma->vm_private_data;

	area_put(area, &area->maps);
}

static const struct vm_operations_struct map_operations = {
	.open = map_opened,
	.close = map_closed,
};

/* A mapping holds the area: it may outlive the file and the count of its user (mbuff_attach). */
static int mbuff_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct area *area;
	int error;

	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	area = area_of(selected(file));
	if (!area)
		return -EAGAIN;
	error = window_mmap(vma, vma->vm_pgoff, window.pool + area->offset, area->size);
	if (!error) {
		vma->vm_ops = &map_operations;
		vma->vm_private_data = area;
		area_map(area);
	}
	area_put(area, &area->files);
	return error;
}

static int mbuff_file_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return 0;
}

static int mbuff_release(struct inode *inode, struct file *file)
{
	select(file, NULL);
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = mbuff_file_open,
	.release = mbuff_release,
	.read = mbuff_read,
	.write = mbuff_write,
	.llseek = mbuff_llseek,
	.mmap = mbuff_mmap,
	.unlocked_ioctl = mbuff_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "mbuff",
	.fops = &operations,
};

int mbuff_open(void)
{
	int error = misc_register(&device);

	if (error)
		return error;
	/* The device's permissions are set by udev rules; this list is for root. */
	if (proc_create_single("mbuff", 0400, NULL, area_show))
		return 0;
	misc_deregister(&device);
	return -ENOMEM;
}

void mbuff_close(void)
{
	remove_proc_entry("mbuff", NULL);
	misc_deregister(&device);
	area_close();
}
