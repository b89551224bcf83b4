// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device /dev/pillion-psc: functions of a process that run at real-time priority. They run on
 * the process's page tables without Linux's knowledge, so they must end before the page tables do:
 * when the process's memory goes, which a notifier reports, or with the open file.
 *
 * A process can map FIFOs that were made through its own file, and nothing else. What the task that
 * runs functions relies on (page tables, registers, requests) is in memory that only this module
 * writes.
 */
#include <linux/bitops.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <pillion_psc.h>

#include "psc.h"
#include "psc_request.h"
#include "psc_fifo.h"
#include "window.h"

#define KNOWN_FLAGS (PILLION_PSC_ONESHOT | PILLION_PSC_LINE)

/* An open file, and the process that it belongs to once that has set a handler. */
struct owner {
	struct mmu_notifier notifier;
	struct mm_struct *mm;
	struct mutex lock;
};

/* The owner of each slot, and the process's number for it. Guarded by `slots_lock`. */
static struct {
	struct owner *owner;
	u32 id;
} slots[PILLION_PSC_SLOTS];

static DEFINE_MUTEX(slots_lock);

/* Owner of the slots whose handlers could not be ended: they are not used again. */
static struct owner lost;

/* The slot of a handler, or, if `take`, a free one; negative if there is none. */
static int find(struct owner *owner, u32 id, bool take)
{
	int i, free = take ? -ENOSPC : -ENOENT;

	for (i = 0; i < PILLION_PSC_SLOTS; i++) {
		if (slots[i].owner == owner && slots[i].id == id)
			return i;
		if (take && free < 0 && !slots[i].owner)
			free = i;
	}
	if (free >= 0) {
		slots[free].owner = owner;
		slots[free].id = id;
	}
	return free;
}

/* Ends a handler. Its slot is free only after that. Only a broken task refuses. */
static void end(unsigned int slot)
{
	bool refused = psc_request_stop(slot) && task_alive(psc_request_task());

	WARN_ON_ONCE(refused);
	slots[slot].owner = refused ? &lost : NULL;
}

/* Ends all handlers of a file. */
static void end_all(struct owner *owner)
{
	unsigned int i;

	mutex_lock(&slots_lock);
	for (i = 0; i < PILLION_PSC_SLOTS; i++)
		if (slots[i].owner == owner)
			end(i);
	mutex_unlock(&slots_lock);
}

/* The process's memory goes away. Its page tables still exist. */
static void memory_goes(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	end_all(container_of(notifier, struct owner, notifier));
}

static const struct mmu_notifier_ops notifier_operations = {
	.release = memory_goes,
};

/* Assigns the file to the current process, unless it belongs to another. */
static int belong(struct owner *owner)
{
	int error = 0;

	mutex_lock(&owner->lock);
	if (!owner->mm) {
		owner->notifier.ops = &notifier_operations;
		error = mmu_notifier_register(&owner->notifier, current->mm);
		if (!error)
			owner->mm = current->mm;
	} else if (owner->mm != current->mm) {
		error = -EPERM;
	}
	mutex_unlock(&owner->lock);
	return error;
}

/* Whether the file belongs to the current process; -ENOENT if it belongs to none yet. */
static int check(struct owner *owner)
{
	int error;

	mutex_lock(&owner->lock);
	error = !owner->mm ? -ENOENT : owner->mm != current->mm ? -EPERM : 0;
	mutex_unlock(&owner->lock);
	return error;
}

static bool is_good(const struct pillion_psc_handler *handler)
{
	return !(handler->flags & ~KNOWN_FLAGS) && handler->entry < TASK_SIZE_MAX &&
	       handler->stack < TASK_SIZE_MAX;
}

static int set(struct owner *owner, const void __user *user)
{
	struct pillion_psc_handler handler;
	int slot, result;

	/* This gives more of the processor than others get: each call checks the capability. */
	if (!capable(CAP_SYS_NICE))
		return -EPERM;
	if (copy_from_user(&handler, user, sizeof(handler)))
		return -EFAULT;
	if (!is_good(&handler))
		return -EINVAL;
	result = belong(owner);
	if (result)
		return result;
	mutex_lock(&slots_lock);
	slot = find(owner, handler.id, true);
	result = slot < 0 ? slot : psc_request_start(slot, &handler);
	/* What was there before must not continue without an owner. */
	if (slot >= 0 && result)
		end(slot);
	mutex_unlock(&slots_lock);
	return result;
}

static int clear(struct owner *owner, const void __user *user)
{
	int slot;
	u32 id;

	if (copy_from_user(&id, user, sizeof(id)))
		return -EFAULT;
	slot = check(owner);
	if (slot)
		return slot;
	mutex_lock(&slots_lock);
	slot = find(owner, id, false);
	if (slot >= 0)
		end(slot);
	mutex_unlock(&slots_lock);
	return slot < 0 ? slot : 0;
}

static void look(const struct pillion_psc_slot *shown, struct pillion_psc_state *state)
{
	state->state = READ_ONCE(shown->state);
	state->vector = READ_ONCE(shown->vector);
	state->reserved = 0;
	state->address = READ_ONCE(shown->address);
	state->rip = READ_ONCE(shown->rip);
	state->runs = READ_ONCE(shown->runs);
	state->overruns = READ_ONCE(shown->overruns);
	state->latency_max_ns = READ_ONCE(shown->latency_max_ns);
}

static int tell(struct owner *owner, void __user *user)
{
	struct pillion_psc_state state;
	int slot;

	if (copy_from_user(&state, user, sizeof(state)))
		return -EFAULT;
	slot = check(owner);
	if (slot)
		return slot;
	/* The slot may be another's once the lock is released. */
	mutex_lock(&slots_lock);
	slot = find(owner, state.id, false);
	if (slot >= 0)
		look(psc_request_slot(slot), &state);
	mutex_unlock(&slots_lock);
	if (slot < 0)
		return slot;
	return copy_to_user(user, &state, sizeof(state)) ? -EFAULT : 0;
}

static int fifo(struct owner *owner, const void __user *user)
{
	struct pillion_psc_ring ring;
	int result;

	if (copy_from_user(&ring, user, sizeof(ring)))
		return -EFAULT;
	result = belong(owner);
	return result ? result : psc_fifo_change(owner, ring.number, ring.size);
}

static long psc_ioctl(struct file *file, unsigned int number, unsigned long argument)
{
	struct owner *owner = file->private_data;
	void __user *user = (void __user *)argument;

	switch (number) {
	case PILLION_IOC_PSC_SET:
		return set(owner, user);
	case PILLION_IOC_PSC_CLEAR:
		return clear(owner, user);
	case PILLION_IOC_PSC_STATE:
		return tell(owner, user);
	case PILLION_IOC_PSC_FIFO:
		return fifo(owner, user);
	default:
		return -ENOTTY;
	}
}

static int psc_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct owner *owner = file->private_data;

	return check(owner) ? -EACCES : psc_fifo_map(owner, vma);
}

/* All uses of the file need the capability, so a file without it is useless. */
static int psc_file_open(struct inode *inode, struct file *file)
{
	struct owner *owner;

	if (!capable(CAP_SYS_NICE))
		return -EPERM;
	owner = kzalloc(sizeof(*owner), GFP_KERNEL);
	if (!owner)
		return -ENOMEM;
	mutex_init(&owner->lock);
	file->private_data = owner;
	return nonseekable_open(inode, file);
}

static int psc_release(struct inode *inode, struct file *file)
{
	struct owner *owner = file->private_data;

	end_all(owner);
	psc_fifo_end_all(owner);
	if (owner->mm)
		mmu_notifier_unregister(&owner->notifier, owner->mm);
	kfree(owner);
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = psc_file_open,
	.release = psc_release,
	.mmap = psc_mmap,
	.unlocked_ioctl = psc_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "pillion-psc",
	.fops = &operations,
};

/* Without a task that runs handlers, there is no device. */
static bool is_there;

int psc_open(void)
{
	int error;

	if (!psc_request_open())
		return 0;
	error = misc_register(&device);
	is_there = !error;
	return error;
}

void psc_close(void)
{
	if (is_there)
		misc_deregister(&device);
	is_there = false;
}
