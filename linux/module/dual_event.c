// SPDX-License-Identifier: GPL-2.0-only
/* Eventfds that both sides read and write: those that marked processes make. */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <asm/unistd.h>

#include "dual_file.h"

__poll_t dual_event_mask(const struct dual_file *this)
{
	u64 count = READ_ONCE(this->shared->value);

	return (count ? EPOLLIN : 0) | (count < PILLION_DUAL_FILE_COUNT_MAX ? EPOLLOUT : 0);
}

/* Takes what a read takes: 0 if there is nothing. */
static u64 take(struct dual_file *this)
{
	u64 *value = &this->shared->value, count;

	if (this->shared->kind == PILLION_DUAL_FILE_EVENT)
		return READ_ONCE(*value) ? xchg(value, 0) : 0;
	do {
		count = READ_ONCE(*value);
		if (!count)
			return 0;
	} while (cmpxchg64(value, count, count - 1) != count);
	return 1;
}

static ssize_t event_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	struct dual_file *this = dual_file_of(file);
	long result;
	u64 count;
	int error;

	if (size < sizeof(count))
		return -EINVAL;
	while (!(count = take(this))) {
		if (READ_ONCE(this->is_native))
			return dual_file_read(this, to, size, at);
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (dual_file_enter(&result))
			return result;
		error = dual_file_wait(this, 0);
		if (error)
			return error;
	}
	dual_file_changed(this);
	return copy_to_user(to, &count, sizeof(count)) ? -EFAULT : sizeof(count);
}

/* Adds if there is room. */
static bool add(struct dual_file *this, u64 more)
{
	u64 *value = &this->shared->value, count;

	do {
		count = READ_ONCE(*value);
		if (count > PILLION_DUAL_FILE_COUNT_MAX - more)
			return false;
	} while (cmpxchg64(value, count, count + more) != count);
	return true;
}

/* Takes back what was added, unless it is in Linux's own count. */
static bool withdraw(struct dual_file *this, u64 more)
{
	u64 *value = &this->shared->value, count;

	do {
		count = READ_ONCE(*value);
		if (count < more)
			return false;
	} while (cmpxchg64(value, count, count - more) != count);
	return true;
}

static ssize_t event_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	struct dual_file *this = dual_file_of(file);
	u64 more;
	int error;

	/* From this version on, Linux takes nothing that is longer. */
	if (size < sizeof(more) || (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0) && size != sizeof(more)))
		return -EINVAL;
	if (copy_from_user(&more, from, sizeof(more)))
		return -EFAULT;
	if (more == U64_MAX)
		return -EINVAL;
	while (READ_ONCE(this->is_native) || !add(this, more)) {
		if (READ_ONCE(this->is_native))
			return this->original->write(file, from, size, at);
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		error = dual_file_wait(this, more);
		if (error)
			return error;
	}
	if (READ_ONCE(this->is_native) && withdraw(this, more))
		return this->original->write(file, from, size, at);
	dual_file_changed(this);
	return sizeof(more);
}

static void event_show(struct seq_file *to, struct file *file)
{
	struct dual_file *this = dual_file_of(file);

	if (READ_ONCE(this->is_native))
		this->original->show_fdinfo(to, file);
	else
		seq_printf(to, "eventfd-count: %16llx\n", READ_ONCE(this->shared->value));
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.llseek = noop_llseek,
	/* Not `read_iter`, whose results Linux checks: a thread's can be any. */
	.read = event_read,
	.write = event_write,
	.poll = dual_file_poll,
	.show_fdinfo = event_show,
	.release = dual_file_release,
};

static bool adopt(struct dual_file *place, int descriptor, unsigned int count, unsigned int flags)
{
	u32 kind = flags & EFD_SEMAPHORE ? PILLION_DUAL_FILE_SEMAPHORE : PILLION_DUAL_FILE_EVENT;
	struct file *file = eventfd_fget(descriptor);
	bool is_done;

	/* Another thread can have closed it by now, and made it another file's. */
	if (IS_ERR(file))
		return false;
	is_done = dual_file_adopt(place, file, kind, count, &operations);
	fput(file);
	return is_done;
}

/* Makes an eventfd, for a marked process. Linux's own count is 0 as long as it is not used. */
long dual_event_make(const struct pt_regs *regs)
{
	unsigned int flags = (u32)regs->orig_ax == __NR_eventfd2 ? regs->si : 0;
	struct dual_file *place = dual_file_claim();
	struct pt_regs empty = *regs;
	long descriptor;

	if (!place)
		return dual_natively(regs);
	empty.di = 0;
	descriptor = dual_natively(&empty);
	if (descriptor < 0 || !adopt(place, descriptor, regs->di, flags))
		dual_file_unclaim(place);
	return descriptor;
}

/* Most that are added one by one. */
#define MOST (1 << 16)

/* Adds to Linux's own count. Its operations are those of Linux meanwhile. */
static void add_native(struct file *file, u64 count)
{
	struct eventfd_ctx *context = eventfd_ctx_fileget(file);

	if (IS_ERR(context))
		return;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	while (count--)
		eventfd_signal(context);
#else
	eventfd_signal(context, count);
#endif
	eventfd_ctx_put(context);
}

/*
 * Users in Linux's kernel (KVM, asynchronous I/O, ...) know nothing of the other side: an eventfd
 * that one of them asks for is Linux's alone from then on. Linux's function is to be called before
 * the file is masked again. NULL: it is another file, or its count is too high.
 */
struct dual_file *dual_event_leave(struct file *file)
{
	struct dual_file *this = dual_file_of(file);

	if (!this || this->operations != &operations)
		return NULL;
	if (!READ_ONCE(this->is_native) && READ_ONCE(this->shared->value) > MOST)
		return NULL;
	dual_file_unmask(this);
	if (!this->is_native) {
		dual_file_leave(this);
		/* Whoever adds to it from here on takes that back, and adds it there. */
		add_native(file, xchg(&this->shared->value, 0));
	}
	return this;
}
