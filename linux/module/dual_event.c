// SPDX-License-Identifier: GPL-2.0-only
/* Eventfds that both sides read and write: those that marked processes make. */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
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

	if (this->kind == PILLION_DUAL_FILE_EVENT)
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
	return dual_file_take(file, to, size, at, take, EPOLLOUT);
}

/* Held while threads in Linux add, so that an eventfd is not made Linux's alone meanwhile. */
static DEFINE_SPINLOCK(adds);

/* Adds if there is room, and it is not Linux's alone. */
static bool add(struct dual_file *this, u64 more)
{
	u64 *value = &this->shared->value, count;
	bool has_room;

	spin_lock(&adds);
	do {
		count = READ_ONCE(*value);
		has_room = !this->is_native && count <= PILLION_DUAL_FILE_COUNT_MAX - more;
	} while (has_room && cmpxchg64(value, count, count + more) != count);
	spin_unlock(&adds);
	return has_room;
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
	while (!add(this, more)) {
		if (READ_ONCE(this->is_native))
			return this->original->write(file, from, size, at);
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		error = dual_file_wait(this, more);
		if (error)
			return error;
	}
	dual_file_changed(this, EPOLLIN);
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
	unsigned int flags = dual_number(regs) == __NR_eventfd2 ? regs->si : 0;
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
 * Ends the use of an eventfd by both sides, and takes what is in it; false if that is too much.
 * Threads in primary mode look at the kind again after they have added, and take that back.
 */
static bool stop(struct dual_file *this, u64 *count)
{
	struct pillion_dual_file *shared = this->shared;

	*count = 0;
	spin_lock(&adds);
	if (!this->is_native) {
		WRITE_ONCE(shared->kind, PILLION_DUAL_FILE_NONE);
		/* Before it is looked at what was added. */
		smp_mb();
		do {
			*count = READ_ONCE(shared->value);
		} while (*count <= MOST && cmpxchg64(&shared->value, *count, 0) != *count);
		if (*count <= MOST)
			smp_store_mb(this->is_native, true);
		else
			WRITE_ONCE(shared->kind, this->kind);
	}
	spin_unlock(&adds);
	return *count <= MOST;
}

/*
 * Users in Linux's kernel (KVM, asynchronous I/O, ...) know nothing of the other side: an eventfd
 * that one of them asks for is Linux's alone from then on. Linux's function is to be called before
 * the file is masked again. NULL: it is another file, or its count is too high.
 */
struct dual_file *dual_event_leave(struct file *file)
{
	struct dual_file *this = dual_file_of(file);
	u64 count = 0;
	bool is_first;

	if (!this || this->operations != &operations)
		return NULL;
	is_first = !READ_ONCE(this->is_native);
	if (is_first && !stop(this, &count))
		return NULL;
	dual_file_unmask(this);
	if (is_first) {
		add_native(file, count);
		/* Whoever waits looks again. */
		dual_file_changed(this, 0);
	}
	return this;
}
