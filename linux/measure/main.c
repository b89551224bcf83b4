// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts on demand and their handlers' times, to measure how Linux responds. See measure.h. */
#include <linux/fs.h>
#include <linux/math64.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "measure.h"
#include "source.h"

static unsigned long source;

static ssize_t measure_read(struct file *file, char __user *to, size_t size, loff_t *offset)
{
	struct measure_stamps last;
	int error;

	if (size < sizeof(last))
		return -EINVAL;
	error = arrival_wait(&last);
	if (error)
		return error;
	return copy_to_user(to, &last, sizeof(last)) ? -EFAULT : sizeof(last);
}

/* A critical section that several processes compete for. */
static DEFINE_MUTEX(section);

static void hold(u64 ns)
{
	u64 start, ticks = mul_u64_u32_div(ns, tsc_khz, USEC_PER_SEC);

	mutex_lock(&section);
	start = rdtsc();
	while (rdtsc() - start < ticks)
		cpu_relax();
	mutex_unlock(&section);
}

/* Long enough for any measurement, and too short to be noticed. */
#define LONGEST_HOLD_NS	(10 * NSEC_PER_MSEC)

static long measure_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	switch (command) {
	case MEASURE_SOURCE:
		if (argument > MEASURE_TIMER)
			return -EINVAL;
		if (argument == MEASURE_EDU && !edu_found())
			return -ENODEV;
		source = argument;
		arrival_forget();
		return 0;
	case MEASURE_ARM:
		if (source != MEASURE_TIMER)
			return -EINVAL;
		timer_arm(argument);
		return 0;
	case MEASURE_HOLD:
		if (argument > LONGEST_HOLD_NS)
			return -EINVAL;
		hold(argument);
		return 0;
	default:
		return -ENOTTY;
	}
}

static int measure_mmap(struct file *file, struct vm_area_struct *area)
{
	return edu_mmap(area);
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.read = measure_read,
	.unlocked_ioctl = measure_ioctl,
	.mmap = measure_mmap,
};

static struct miscdevice measure_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "measure",
	.fops = &operations,
	.mode = 0600,
};

static int __init measure_init(void)
{
	int error;

	timer_init();
	error = edu_init();
	if (error)
		return error;
	error = misc_register(&measure_device);
	if (error)
		edu_exit();
	return error;
}

static void __exit measure_exit(void)
{
	misc_deregister(&measure_device);
	timer_exit();
	edu_exit();
}

module_init(measure_init);
module_exit(measure_exit);

MODULE_LICENSE("GPL v2");
MODULE_DESCRIPTION("Interrupts on demand, with the times of their handlers");
