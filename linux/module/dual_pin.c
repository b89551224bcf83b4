// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of a process with threads in primary mode stays where it is: it is pinned, which also
 * keeps a fork from making it copy-on-write and compaction from moving it, as locking it does not.
 * What is mapped later is pinned when a thread next enters primary mode.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/version.h>

#include "dual.h"

/* Pages that are pinned in one go. */
#define BATCH 512UL

/* Pinned pages, and how many are counted as locked memory of the process. */
struct dual_pages {
	unsigned long room;
	unsigned long count;
	struct page *pages[];
};

static void unpin(struct dual_pages *pinned)
{
	/* What was written is marked in the page tables. */
	if (pinned && pinned->count)
		unpin_user_pages(pinned->pages, pinned->count);
	kvfree(pinned);
}

/*
 * What a thread in primary mode can use without Linux: it must not fault there. Memory without a
 * file that cannot be written, and could not before, is empty.
 */
static bool is_wanted(const struct vm_area_struct *area)
{
	bool is_empty = !area->vm_file && !(area->vm_flags & VM_WRITE) && !area->anon_vma;

	return !(area->vm_flags & (VM_IO | VM_PFNMAP)) && !is_empty &&
	       area->vm_flags & (VM_READ | VM_WRITE | VM_EXEC);
}

static long pin_batch(unsigned long start, unsigned long count, unsigned int flags, struct page **pages)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	return pin_user_pages(start, count, flags, pages);
#else
	return pin_user_pages(start, count, flags, pages, NULL);
#endif
}

/*
 * Pins an area as far as that is possible. Returns how many pages there were. Pages that only this
 * memory has are made its own as a debugger's write makes them, its code too: Linux leaves pinned
 * pages of a process in place, but it unmaps those of a file before it finds that they are pinned,
 * and a thread would fault.
 */
static unsigned long pin_area(const struct vm_area_struct *area, struct page **pages, unsigned long room)
{
	unsigned int flags = FOLL_LONGTERM | (is_cow_mapping(area->vm_flags) ? FOLL_WRITE | FOLL_FORCE : 0);
	unsigned long at = area->vm_start, done = 0;

	while (at < area->vm_end && done < room) {
		unsigned long wanted = min3((area->vm_end - at) >> PAGE_SHIFT, BATCH, room - done);
		long pinned = pin_batch(at, wanted, flags, pages + done);

		/* Some memory cannot be pinned, such as that of some file systems. */
		if (pinned <= 0)
			break;
		done += pinned;
		at += (unsigned long)pinned << PAGE_SHIFT;
	}
	return done;
}

/* The numbers of the memories that may have objects; 0 is none. */
static u64 memories[PILLION_DUAL_MEMORIES];

/* The highest priority that the current process may give itself, as sched_setscheduler() has it. */
static u8 ceiling_of_current(void)
{
	return capable(CAP_SYS_NICE) ? MAX_RT_PRIO - 1 : min(rlimit(RLIMIT_RTPRIO), MAX_RT_PRIO - 1UL);
}

static void begin_objects(struct dual_pins *pins, struct mm_struct *mm)
{
	u64 number = get_random_u64() | 1;
	unsigned int i;

	for (i = 0; i < PILLION_DUAL_MEMORIES; i++)
		if (dual_futex_is_free(i) && !cmpxchg64(&memories[i], 0, number)) {
			/* Before a thread can wait in primary mode. */
			if (!dual_futex_begin(i, mm)) {
				smp_store_release(&memories[i], 0);
				return;
			}
			WRITE_ONCE(pins->stated, dual_starts() - 1);
			WRITE_ONCE(pins->has_names, false);
			WRITE_ONCE(pins->ceiling, ceiling_of_current());
			WRITE_ONCE(pins->memory, i);
			return;
		}
}

/* The task ends the objects when it next looks: if others use them, its runners do so now. */
static void end_objects(struct dual_pins *pins)
{
	u32 memory = xchg(&pins->memory, DUAL_NO_MEMORY);

	if (memory == DUAL_NO_MEMORY)
		return;
	WRITE_ONCE(dual_head()->memories[memory], 0);
	dual_futex_end(memory);
	smp_store_release(&memories[memory], 0);
	xadd(&dual_head()->memories_gone, 1);
	/* Threads of others may wait for what one of this memory owned. */
	if (READ_ONCE(pins->has_names))
		dual_runners_look(true);
}

/* Tells the task with that number of starts of a memory that may have objects. */
void dual_state_memory_anew(struct dual_pins *pins, u32 start)
{
	u32 memory = READ_ONCE(pins->memory);

	dual_file_state();
	if (memory == DUAL_NO_MEMORY)
		return;
	WRITE_ONCE(dual_head()->ceilings[memory], READ_ONCE(pins->ceiling));
	WRITE_ONCE(dual_head()->memories[memory], memories[memory]);
	dual_futex_state(memory);
	/* Another thread of the process relies on it. Twice does no harm. */
	smp_store_release(&pins->stated, start);
}

/*
 * The memory goes away: nobody is in primary mode on it any more. May be called twice at the same
 * time, for its end and for that of the notifier.
 */
static void memory_goes(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct dual_pins *pins = container_of(notifier, struct dual_pins, notifier);

	end_objects(pins);
	unpin(xchg(&pins->pinned, NULL));
}

/* A part of the memory goes away, whose areas are gone already. */
static int part_goes(struct mmu_notifier *notifier, const struct mmu_notifier_range *range)
{
	struct dual_pins *pins = container_of(notifier, struct dual_pins, notifier);

	if (range->event == MMU_NOTIFY_UNMAP)
		atomic_inc(&pins->unmaps);
	return 0;
}

static const struct mmu_notifier_ops operations = {
	.release = memory_goes,
	.invalidate_range_start = part_goes,
};

/*
 * A part of the memory was taken away, or rights to it, and has no other use before this returns.
 * The caller may hold the lock of the page tables.
 */
static void was_taken(struct mmu_notifier *notifier, struct mm_struct *mm, unsigned long start, unsigned long end)
{
	/* The page tables were changed before. Pairs with the barrier of a thread that enters. */
	smp_mb();
	dual_settle(container_of(notifier, struct dual_pins, taken)->inside);
}

static const struct mmu_notifier_ops takes = {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	.arch_invalidate_secondary_tlbs = was_taken,
#else
	.invalidate_range = was_taken,
#endif
};

void dual_pins_init(struct dual_pins *pins)
{
	mutex_init(&pins->lock);
	pins->notifier.ops = &operations;
	pins->taken.ops = &takes;
	pins->memory = DUAL_NO_MEMORY;
}

/* Forgets a memory, which calls `memory_goes` if that was not called. */
void dual_pins_end(struct dual_pins *pins)
{
	if (pins->mm) {
		mmu_notifier_unregister(&pins->notifier, pins->mm);
		if (dual_has_several())
			mmu_notifier_unregister(&pins->taken, pins->mm);
	}
	pins->mm = NULL;
}

/* Uses the memory of the current process, which changes when it executes another program. */
static int follow(struct dual_pins *pins, struct mm_struct *mm)
{
	int error;

	if (pins->mm == mm)
		return 0;
	dual_pins_end(pins);
	pins->shape.total_vm = 0;
	error = mmu_notifier_register(&pins->notifier, mm);
	if (error)
		return error;
	if (dual_has_several()) {
		error = mmu_notifier_register(&pins->taken, mm);
		if (error) {
			mmu_notifier_unregister(&pins->notifier, mm);
			return error;
		}
	}
	begin_objects(pins, mm);
	pins->mm = mm;
	return 0;
}

/* Uses the memory of the current process without pinning it. */
int dual_pins_follow(struct dual_pins *pins)
{
	int error;

	if (READ_ONCE(pins->mm) == current->mm)
		return 0;
	mutex_lock(&pins->lock);
	error = follow(pins, current->mm);
	mutex_unlock(&pins->lock);
	return error;
}

/* Pages that can be pinned. */
static unsigned long count(struct mm_struct *mm)
{
	struct vm_area_struct *area;
	unsigned long pages = 0;

	mmap_read_lock(mm);
	for (area = find_vma(mm, 0); area; area = find_vma(mm, area->vm_end))
		if (is_wanted(area))
			pages += vma_pages(area);
	mmap_read_unlock(mm);
	return pages;
}

/* Room for that many pages. */
static struct dual_pages *make_room(unsigned long room)
{
	struct dual_pages *pinned;

	if (room > totalram_pages() / 2) {
		pr_warn_ratelimited("%*pE: its memory, %lu pages, cannot be pinned: it is more than half of Linux's; use less\n",
				    (int)strlen(current->comm), current->comm, room);
		return ERR_PTR(-E2BIG);
	}
	pinned = kvmalloc(struct_size(pinned, pages, room), GFP_KERNEL | __GFP_NOWARN);
	if (!pinned)
		return ERR_PTR(-ENOMEM);
	pinned->room = room;
	return pinned;
}

/* Counts so many pages as locked instead of those before. */
static int account(struct mm_struct *mm, unsigned long before, unsigned long room)
{
	if (room <= before)
		return account_locked_vm(mm, before - room, false);
	if (!account_locked_vm(mm, room - before, true))
		return 0;
	pr_warn_ratelimited("%*pE: its memory, %lu pages, cannot be pinned: RLIMIT_MEMLOCK; raise it\n",
			    (int)strlen(current->comm), current->comm, room);
	return -EDQUOT;
}

static void fill(struct dual_pins *pins, struct dual_pages *pinned, struct mm_struct *mm)
{
	struct vm_area_struct *area;

	pinned->count = 0;
	mmap_read_lock(mm);
	for (area = find_vma(mm, 0); area; area = find_vma(mm, area->vm_end))
		if (is_wanted(area))
			pinned->count += pin_area(area, pinned->pages + pinned->count,
						  pinned->room - pinned->count);
	mmap_read_unlock(mm);
}

/* Whether a memory looks as at the last scan. */
static bool is_scanned(const struct dual_pins *pins, const struct mm_struct *mm)
{
	return READ_ONCE(pins->shape.total_vm) == READ_ONCE(mm->total_vm) &&
	       READ_ONCE(pins->shape.data_vm) == READ_ONCE(mm->data_vm) &&
	       READ_ONCE(pins->shape.map_count) == READ_ONCE(mm->map_count) &&
	       READ_ONCE(pins->shape.unmaps) == atomic_read(&pins->unmaps);
}

static int scan(struct dual_pins *pins, struct mm_struct *mm)
{
	/*
	 * As it looked before the room for it was made: what is mapped meanwhile makes another
	 * scan.
	 */
	struct dual_shape shape = {
		.total_vm = READ_ONCE(mm->total_vm),
		.data_vm = READ_ONCE(mm->data_vm),
		.map_count = READ_ONCE(mm->map_count),
		.unmaps = atomic_read(&pins->unmaps),
	};
	struct dual_pages *old = READ_ONCE(pins->pinned), *pinned = make_room(count(mm));
	int error;

	if (IS_ERR(pinned))
		return PTR_ERR(pinned);
	error = account(mm, old ? old->room : 0, pinned->room);
	if (error) {
		kvfree(pinned);
		return error;
	}
	/* Before what was pinned is given up, so that no page is free to move in between. */
	fill(pins, pinned, mm);
	dual_clock_touch();
	unpin(xchg(&pins->pinned, pinned));
	WRITE_ONCE(pins->shape.unmaps, shape.unmaps);
	WRITE_ONCE(pins->shape.map_count, shape.map_count);
	WRITE_ONCE(pins->shape.data_vm, shape.data_vm);
	WRITE_ONCE(pins->shape.total_vm, shape.total_vm);
	return 0;
}

/*
 * Pins the memory of the current process, unless it looks as at the last scan. Fails with -EDQUOT
 * if it may not lock so much, -E2BIG if that is too much for Linux, and others.
 */
int dual_pin(struct dual_pins *pins)
{
	struct mm_struct *mm = current->mm;
	int error = 0;

	if (READ_ONCE(pins->mm) == mm && is_scanned(pins, mm) &&
	    READ_ONCE(pins->memory) != DUAL_NO_MEMORY)
		return 0;
	mutex_lock(&pins->lock);
	error = follow(pins, mm);
	/* All numbers were taken at first, or another process had the number of its memory. */
	if (!error && pins->memory == DUAL_NO_MEMORY)
		begin_objects(pins, mm);
	if (!error && !is_scanned(pins, mm))
		error = scan(pins, mm);
	mutex_unlock(&pins->lock);
	return error;
}
