// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where threads left primary mode: for the first of each kind, the instruction and what is found on
 * the stack of the way there. Programs are built without frame pointers and tables are not read
 * here, so the stack is searched for addresses behind a call, as Linux does with its own; those
 * that the frame pointers confirm are marked.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "dual.h"

/* Words of the stack that are looked at. */
#define WORDS 512

/* Longest form of CALL: opcode, ModRM, SIB, displacement. A prefix makes no difference. */
#define CALL_LENGTH 7

/* Whether the instruction before an address is a CALL. */
static bool is_behind_call(u64 address)
{
	u8 before[CALL_LENGTH];
	unsigned int i;

	if (address < CALL_LENGTH || copy_from_user_nofault(before, (void __user *)(address - CALL_LENGTH), CALL_LENGTH))
		return false;
	/* E8 with a displacement, or FF /2 of any length. */
	for (i = 0; i < CALL_LENGTH - 1; i++)
		if (before[i] == 0xff && (before[i + 1] & 0x38) == 0x10)
			return true;
	return before[2] == 0xe8;
}

/* The index of a file among those of a place, which is added if there is room. */
static u32 index_of(struct pillion_dual_place *place, struct file *file)
{
	char text[PILLION_DUAL_PATH], *path = d_path(&file->f_path, text, sizeof(text));
	unsigned int i;

	if (IS_ERR(path))
		return PILLION_DUAL_NO_FILE;
	for (i = 0; i < place->file_count; i++)
		if (!strcmp(place->files[i], path))
			return i;
	if (i == PILLION_DUAL_FILES)
		return PILLION_DUAL_NO_FILE;
	strscpy(place->files[i], path, PILLION_DUAL_PATH);
	place->file_count++;
	return i;
}

/* Adds an address, if it is one of code. */
static bool add(struct pillion_dual_place *place, u64 address, u32 flags)
{
	struct pillion_dual_frame *frame = &place->frames[place->frame_count];
	struct vm_area_struct *area;
	bool is_code;

	mmap_read_lock(current->mm);
	area = find_vma(current->mm, address);
	is_code = area && area->vm_start <= address && area->vm_flags & VM_EXEC;
	if (is_code) {
		frame->address = address;
		frame->flags = flags;
		frame->file = area->vm_file ? index_of(place, area->vm_file) : PILLION_DUAL_NO_FILE;
		frame->offset = address - area->vm_start + ((u64)area->vm_pgoff << PAGE_SHIFT);
		place->frame_count++;
	}
	mmap_read_unlock(current->mm);
	return is_code;
}

static void walk(struct pillion_dual_place *place, const u64 *stack, unsigned int words, u64 sp, u64 bp)
{
	unsigned int i;

	for (i = 0; i < words && place->frame_count < PILLION_DUAL_FRAMES; i++) {
		/* A return address is above the word that the frame pointer names. */
		bool is_sure = sp + 8 * i == bp + 8;

		if (is_behind_call(stack[i]))
			add(place, stack[i], is_sure ? PILLION_DUAL_FRAME_SURE : 0);
		if (is_sure && i)
			bp = stack[i - 1];
	}
}

static bool is_known(const struct dual_process *process, u32 reason, u32 number)
{
	unsigned int i;

	for (i = 0; i < process->place_count; i++)
		if (process->places[i]->reason == reason && process->places[i]->number == number)
			return true;
	return process->place_count == DUAL_PLACES;
}

static struct pillion_dual_place *look_around(const struct dual_process *process, const struct dual_thread *thread,
					      const struct pillion_dual_slot *slot, u32 reason, u32 number)
{
	u64 sp = ALIGN(slot->registers.gpr[RSP], 8);
	struct pillion_dual_place *place = kzalloc(sizeof(*place), GFP_KERNEL_ACCOUNT);
	u64 *stack = kmalloc_array(WORDS, sizeof(*stack), GFP_KERNEL);
	unsigned long missing;

	if (!place || !stack) {
		kfree(place);
		kfree(stack);
		return NULL;
	}
	place->thread = pid_vnr(thread->pid);
	place->process = pid_vnr(process->pid);
	place->reason = reason;
	place->number = number;
	place->address = reason == PILLION_DUAL_LEFT_FAULT ? slot->address : 0;
	add(place, slot->registers.rip, PILLION_DUAL_FRAME_SURE);
	missing = copy_from_user(stack, (void __user *)sp, WORDS * sizeof(*stack));
	walk(place, stack, WORDS - DIV_ROUND_UP(missing, sizeof(*stack)), sp, slot->registers.gpr[RBP]);
	kfree(stack);
	return place;
}

/*
 * Notes where the current thread left primary mode, if that is its process's first such way. The
 * process decides how long its memory takes to read, so nobody waits for that.
 */
void dual_report(struct dual_process *process, const struct dual_thread *thread,
		 const struct pillion_dual_slot *slot, u32 reason)
{
	u32 number = reason == PILLION_DUAL_LEFT_FAULT ? 0 : slot->number;
	struct pillion_dual_place *place;
	bool known;

	if (!(process->flags & PILLION_DUAL_REPORT))
		return;
	mutex_lock(&process->report);
	known = is_known(process, reason, number);
	mutex_unlock(&process->report);
	if (known)
		return;
	place = look_around(process, thread, slot, reason, number);
	if (!place)
		return;
	mutex_lock(&process->report);
	if (!is_known(process, reason, number)) {
		process->places[process->place_count++] = place;
		place = NULL;
	}
	mutex_unlock(&process->report);
	kfree(place);
}
