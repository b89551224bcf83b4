// SPDX-License-Identifier: GPL-2.0-only
/*
 * POSIX's message queues that both sides use: those that marked processes make. The operations of
 * the queue's inode are replaced, so whoever opens it later has them as well. Linux's own functions
 * take no file with other operations for a queue, so nothing gets past this module.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mqueue.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>

#include "dual_futex.h"
#include "dual_queue.h"

static struct dual_queue queues[PILLION_DUAL_QUEUE_QUEUES];

/* What both sides share, whole pages of Linux's memory. */
static struct pillion_dual_queue *shared;

#define SHARED_BYTES (PILLION_DUAL_QUEUE_QUEUES * sizeof(struct pillion_dual_queue))

/* Most bytes of the texts of a queue: what is physically contiguous, and is still easily found. */
#define MOST_BYTES (128 << 10)

/* Held while a queue becomes one of both sides, and while such a one is opened. */
static DEFINE_MUTEX(making);

/* How many queues there are. */
static unsigned int count;

/* The operations of Linux's queues. */
static const struct file_operations *native;
static const struct file_operations operations;

bool notrace dual_queue_any(void)
{
	return READ_ONCE(count);
}

static struct dual_queue *queue_of_inode(const struct inode *inode)
{
	unsigned int i;

	for (i = 0; i < PILLION_DUAL_QUEUE_QUEUES; i++)
		if (READ_ONCE(queues[i].inode) == inode)
			return &queues[i];
	return NULL;
}

/* One of Linux's own beside a queue of both sides has other data. */
struct dual_queue *dual_queue_of(const struct file *file)
{
	struct dual_queue *this = file->f_op == &operations ? queue_of_inode(file_inode(file)) : NULL;

	return this && file->private_data == this->shared ? this : NULL;
}

u64 dual_queue_address(const struct dual_queue *this, enum dual_queue_side side)
{
	return 4 * (PILLION_DUAL_QUEUE_FIRST + 2 * (this - queues) + side);
}

unsigned int dual_queue_count(const struct dual_queue *this)
{
	unsigned int i, there = 0;

	for (i = 0; i < this->most; i++)
		there += READ_ONCE(this->shared->messages[i].order) != 0;
	return there;
}

bool dual_queue_lets(const struct dual_queue *this, enum dual_queue_side side)
{
	unsigned int there = dual_queue_count(this);

	return side == DUAL_QUEUE_RECEIVES ? there : there < this->most;
}

/* How often it is looked whether a runner of another processor has gone, before a thread sleeps. */
#define LOOKS 1000

static bool becomes_free(const u32 *word)
{
	unsigned int i;

	for (i = 0; dual_has_several() && i < LOOKS; i++) {
		if (READ_ONCE(*word) == PILLION_DUAL_FILE_FREE)
			return true;
		cpu_relax();
	}
	return false;
}

/*
 * A runner that is at the messages runs on another processor, or has used up its budget, and goes
 * on in its next period. One of a task that has ended does not.
 */
void dual_queue_acquire(struct dual_queue *this)
{
	u32 *word = &this->shared->lock;

	for (;;) {
		raw_spin_lock_irq(&this->lock);
		if (cmpxchg(word, PILLION_DUAL_FILE_FREE, PILLION_DUAL_FILE_BY_LINUX) == PILLION_DUAL_FILE_FREE)
			return;
		raw_spin_unlock_irq(&this->lock);
		if (!becomes_free(word) && !dual_file_is_left())
			schedule_timeout_uninterruptible(1);
	}
}

void dual_queue_release(struct dual_queue *this)
{
	smp_store_release(&this->shared->lock, PILLION_DUAL_FILE_FREE);
	raw_spin_unlock_irq(&this->lock);
}

/* A task that has ended is at no messages any more. */
void dual_queue_free_left(void)
{
	unsigned int i;

	for (i = 0; i < PILLION_DUAL_QUEUE_QUEUES; i++)
		cmpxchg(&shared[i].lock, PILLION_DUAL_FILE_BY_TASK, PILLION_DUAL_FILE_FREE);
}

/* Tells the task how it finds queues. */
void dual_queue_state(struct pillion_dual_descriptors *told)
{
	told->queues = (u64)shared;
	told->queue_operations = (u64)&operations;
}

/* What `poll` can wait for. */
#define IN (EPOLLIN | EPOLLRDNORM)
#define OUT (EPOLLOUT | EPOLLWRNORM)

bool dual_queue_changed(struct dual_queue *this, enum dual_queue_side side)
{
	int woken = dual_futex_wake(PILLION_DUAL_FILE_SET, dual_queue_address(this, side), U32_MAX, 1);
	bool waited = woken || waitqueue_active(&this->waits[side]);

	if (!woken)
		wake_up_interruptible_all(&this->waits[side]);
	wake_up_interruptible_poll(&this->polls, side == DUAL_QUEUE_SENDS ? OUT : IN);
	return waited;
}

static void deliver(struct dual_queue *this)
{
	wake_up_interruptible_all(&this->waits[DUAL_QUEUE_RECEIVES]);
	wake_up_interruptible_all(&this->waits[DUAL_QUEUE_SENDS]);
	wake_up_interruptible_poll(&this->polls, IN | OUT);
	if (waitqueue_active(&this->polls))
		return;
	WRITE_ONCE(this->shared->polled, 0);
	/* Pairs with the one of `queue_poll`. */
	smp_mb();
	if (!waitqueue_active(&this->polls))
		return;
	WRITE_ONCE(this->shared->polled, 1);
	/* What was changed meanwhile was not posted, and somebody may have looked before. */
	smp_mb();
	wake_up_interruptible_poll(&this->polls, IN | OUT);
}

/* Does what the task posted. The places of queues stay, and so who waits there. */
void dual_queue_deliver(void)
{
	unsigned int i;

	for (i = 0; i < PILLION_DUAL_QUEUE_QUEUES; i++)
		if (READ_ONCE(shared[i].posted) && xchg(&shared[i].posted, 0))
			deliver(&queues[i]);
}

static int queue_open(struct inode *inode, struct file *file)
{
	struct dual_queue *this;

	/* Whether it becomes one of both sides is known then. */
	mutex_lock(&making);
	this = queue_of_inode(inode);
	if (this)
		file->private_data = this->shared;
	else
		/* It stays Linux's. The file keeps the module, which is at work here. */
		file->f_op = native;
	mutex_unlock(&making);
	return 0;
}

/* What a file has as its data that the current thread may close. No queue is at an odd address. */
static void *closer(void)
{
	return (void *)((unsigned long)current | 1);
}

static int queue_flush(struct file *file, fl_owner_t owner)
{
	return file->private_data == closer() ? 0 : native->flush(file, owner);
}

static __poll_t queue_poll(struct file *file, poll_table *table)
{
	struct dual_queue *this = dual_queue_of(file);

	if (!this)
		return EPOLLERR;
	poll_wait(file, &this->polls, table);
	WRITE_ONCE(this->shared->polled, 1);
	/* It is known that somebody may wait before it is looked at. */
	smp_mb();
	return (dual_queue_lets(this, DUAL_QUEUE_RECEIVES) ? IN : 0) |
	       (dual_queue_lets(this, DUAL_QUEUE_SENDS) ? OUT : 0);
}

/* What a read shows begins with "QSIZE:" and the bytes of all texts in so many columns. */
#define SIZE_AT 6
#define SIZE_COLUMNS 10

static unsigned long bytes_of(struct dual_queue *this)
{
	unsigned long bytes = 0;
	unsigned int i;

	dual_queue_acquire(this);
	for (i = 0; i < this->most; i++)
		if (this->shared->messages[i].order)
			bytes += this->shared->messages[i].length;
	dual_queue_release(this);
	return bytes;
}

/* What Linux shows, with the bytes that are there instead of the 0 that its own queue has. */
static ssize_t queue_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	struct dual_queue *this = dual_queue_of(file);
	loff_t begin = *at, first = max_t(loff_t, begin, SIZE_AT), end;
	ssize_t result = this ? native->read(file, to, size, at) : -EBADF;
	char digits[SIZE_COLUMNS + 1];

	if (result <= 0)
		return result;
	scnprintf(digits, sizeof(digits), "%-10lu", bytes_of(this));
	end = min_t(loff_t, begin + result, SIZE_AT + SIZE_COLUMNS);
	if (first < end && copy_to_user(to + (first - begin), digits + (first - SIZE_AT), end - first))
		return -EFAULT;
	return result;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = queue_open,
	.flush = queue_flush,
	.poll = queue_poll,
	.read = queue_read,
	.llseek = default_llseek,
};

int dual_queue_open_native(const struct file *file, int flags, struct file **own)
{
	int descriptor = get_unused_fd_flags(O_CLOEXEC);

	if (descriptor < 0)
		return descriptor;
	*own = dentry_open(&file->f_path, flags | O_NONBLOCK, current_cred());
	if (IS_ERR(*own)) {
		put_unused_fd(descriptor);
		return PTR_ERR(*own);
	}
	(*own)->private_data = closer();
	(*own)->f_op = native;
	/* Another thread that has the same descriptors can guess this one, and close it. */
	fd_install(descriptor, get_file(*own));
	return descriptor;
}

void dual_queue_close_native(int descriptor, struct file *own)
{
	/* Whoever has got hold of the file can do nothing with it from here on but close it. */
	own->f_op = &operations;
	close_fd(descriptor);
	own->private_data = NULL;
	fput(own);
}

/* Whether a thread in primary mode still uses what has ended. */
static bool is_used(const struct dual_queue *this)
{
	u32 waiters = smp_load_acquire(&dual_head()->file_waits.waiters);
	unsigned int i;

	for (i = 0; i < dual_slot_count(); i++) {
		u64 address = READ_ONCE(dual_head()->futex_waiters[i].address);

		if (waiters & BIT(i) && (address == dual_queue_address(this, DUAL_QUEUE_RECEIVES) ||
					 address == dual_queue_address(this, DUAL_QUEUE_SENDS)))
			return true;
	}
	return false;
}

static void give_up(struct dual_queue *this)
{
	if (this->texts)
		free_pages_exact(this->texts, this->most * this->size);
	this->texts = NULL;
}

/* A place for a queue; NULL: there are too many. */
static struct dual_queue *place_for(unsigned int most, unsigned int size)
{
	struct dual_queue *this = NULL;
	unsigned int i;

	for (i = 0; i < PILLION_DUAL_QUEUE_QUEUES && !this; i++)
		if (!queues[i].inode && !is_used(&queues[i]))
			this = &queues[i];
	if (!this)
		return NULL;
	give_up(this);
	this->texts = alloc_pages_exact(most * size, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!this->texts)
		return NULL;
	this->most = most;
	this->size = size;
	this->untold = false;
	memset(this->shared, 0, sizeof(*this->shared));
	*this->shared = (struct pillion_dual_queue){
		.number = i - 1, .most = most, .size = size, .texts = (u64)this->texts,
	};
	return this;
}

static bool may_adopt(const struct mq_attr *attributes)
{
	return attributes->mq_curmsgs == 0 && attributes->mq_maxmsg >= 1 && attributes->mq_msgsize >= 1 &&
	       attributes->mq_maxmsg <= PILLION_DUAL_QUEUE_MESSAGES &&
	       attributes->mq_msgsize <= PILLION_DUAL_QUEUE_SIZE &&
	       attributes->mq_maxmsg * attributes->mq_msgsize <= MOST_BYTES;
}

/* Whether nobody else has the queue open, or is about to: its name, and this file. */
static bool is_sole(const struct file *file)
{
	return d_count(file->f_path.dentry) == 2;
}

/* Makes a queue of Linux's one of both sides. */
static void adopt(struct file *file, struct inode *inode, const struct mq_attr *attributes)
{
	struct dual_queue *this = place_for(attributes->mq_maxmsg, attributes->mq_msgsize);

	if (!this)
		return;
	native = file->f_op;
	smp_store_release(&inode->i_fop, &operations);
	/* Whoever is about to open it waits for this, or is seen. */
	smp_mb();
	/* Who had it open in between may have left a message. */
	if (!is_sole(file) || native->poll(file, NULL) & EPOLLIN) {
		WRITE_ONCE(inode->i_fop, native);
		return;
	}
	/* One for the queue, and one for the file. */
	__module_get(THIS_MODULE);
	__module_get(THIS_MODULE);
	WRITE_ONCE(count, count + 1);
	smp_store_release(&this->inode, inode);
	file->private_data = this->shared;
	smp_store_release(&file->f_op, &operations);
}

static bool is_queue(const struct file *file)
{
	return !strcmp(file_inode(file)->i_sb->s_type->name, "mqueue") && S_ISREG(file_inode(file)->i_mode);
}

/* Whether a descriptor is still that of a file. */
static bool leads_to(int descriptor, const struct file *file)
{
	struct file *now = fget(descriptor);

	if (now)
		fput(now);
	return now == file;
}

/*
 * What a marked process makes, or opens as if it did, becomes one of both sides if it is empty, and
 * nobody else has it open. Whoever guessed its descriptor and uses it already goes on with what it
 * was.
 */
static void make(int descriptor)
{
	struct file *file = fget(descriptor);
	struct mq_attr attributes;
	struct inode *inode, *folder;

	if (!file)
		return;
	inode = file_inode(file);
	if (is_queue(file) && !queue_of_inode(inode) && !dual_queue_attributes(descriptor, &attributes) &&
	    leads_to(descriptor, file) && may_adopt(&attributes)) {
		/* Names are looked up, made and removed under this lock. */
		folder = d_inode(file->f_path.dentry->d_parent);
		inode_lock(folder);
		mutex_lock(&making);
		if (is_sole(file) && inode->i_nlink == 1 && !queue_of_inode(inode))
			adopt(file, inode, &attributes);
		mutex_unlock(&making);
		inode_unlock(folder);
	}
	fput(file);
}

long dual_queue_make(const struct pt_regs *regs)
{
	long descriptor = dual_natively(regs);

	if (descriptor >= 0 && regs->si & O_CREAT)
		make(descriptor);
	return descriptor;
}

/* A queue of Linux's ends: its name is gone, and so are its files. */
void dual_queue_end(struct inode *inode)
{
	struct dual_queue *this = queue_of_inode(inode);

	if (!this)
		return;
	mutex_lock(&making);
	/* Before it is looked at whether somebody uses it. */
	smp_store_mb(this->inode, NULL);
	if (!is_used(this))
		give_up(this);
	WRITE_ONCE(count, count - 1);
	module_put(THIS_MODULE);
	mutex_unlock(&making);
}

int dual_queues_open(void)
{
	unsigned int i;

	shared = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(SHARED_BYTES));
	if (!shared)
		return -ENOMEM;
	for (i = 0; i < PILLION_DUAL_QUEUE_QUEUES; i++) {
		queues[i].shared = &shared[i];
		raw_spin_lock_init(&queues[i].lock);
		init_waitqueue_head(&queues[i].waits[DUAL_QUEUE_RECEIVES]);
		init_waitqueue_head(&queues[i].waits[DUAL_QUEUE_SENDS]);
		init_waitqueue_head(&queues[i].polls);
		mutex_init(&queues[i].telling);
	}
	return 0;
}

/* Each queue holds the module, so there are none. */
void dual_queues_close(void)
{
	unsigned int i;

	for (i = 0; i < PILLION_DUAL_QUEUE_QUEUES; i++)
		give_up(&queues[i]);
	free_pages((unsigned long)shared, get_order(SHARED_BYTES));
}
