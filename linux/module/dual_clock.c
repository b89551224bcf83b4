// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux's clocks, for threads in primary mode: each time Linux advances them, what converts ticks
 * into their time, and the page from which the vDSO reads them, are written into two copies, one
 * after the other, so that a reader always finds a complete one.
 */
#include <linux/clocksource.h>
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/pvclock_gtod.h>
#include <linux/timekeeper_internal.h>
#include <linux/timekeeping.h>
#include <asm/barrier.h>
#include <asm/vdso.h>
#include <vdso/clocksource.h>
#include <vdso/datapage.h>

#include "dual.h"
#include "hypercall.h"

/* How long the task may take to put copies in the page's place, in milliseconds. */
#define PATIENCE 2000

/* The vDSO's clocks in their page; NULL: there is none, or none that may be replaced. */
static const void *vvar;

s64 dual_clock_now(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
		return ktime_get_real_ns();
	case CLOCK_BOOTTIME:
		return ktime_get_boottime_ns();
	default:
		return ktime_get_ns();
	}
}

static void state(struct pillion_dual_conversion *copy, const struct timekeeper *keeper)
{
	const struct tk_read_base *mono = &keeper->tkr_mono, *raw = &keeper->tkr_raw;

	copy->valid = mono->clock->vdso_clock_mode == VDSO_CLOCKMODE_TSC;
	copy->mult = mono->mult;
	copy->shift = mono->shift;
	copy->raw_mult = raw->mult;
	copy->tsc_base = mono->cycle_last;
	copy->base_ns = mono->base;
	copy->fraction = mono->xtime_nsec;
	copy->raw_base_ns = raw->base;
	copy->raw_fraction = raw->xtime_nsec;
	copy->to_realtime_ns = keeper->offs_real;
	copy->to_boottime_ns = keeper->offs_boot;
	copy->to_tai_ns = keeper->offs_tai;
}

/* The task's main thread puts copies in the place of the page that is stated. */
static void state_page(u64 page)
{
	WRITE_ONCE(dual_head()->vvar.page, page);
	hypercall(PILLION_DUAL_SIGNAL, PILLION_DUAL_MAIN);
}

static u64 page(void)
{
	return vvar ? virt_to_phys(vvar) & PAGE_MASK : 0;
}

/* The callers hold the lock of Linux's timekeeping, so there is one writer. */
static int advanced(struct notifier_block *block, unsigned long was_set, void *keeper)
{
	struct pillion_dual_clocks *clocks = &dual_head()->clocks;
	unsigned int copy;

	for (copy = 0; copy < 2; copy++) {
		/* The task may have been started anew since the last one, and begun at 0. */
		u64 next = (READ_ONCE(clocks->sequence) & ~1ull) + 1 + copy;

		smp_store_release(&clocks->sequence, next);
		/* The number is visible before the copy that it takes from readers changes. */
		smp_wmb();
		state(&clocks->copies[copy], keeper);
		/* The vDSO's clocks were advanced before. */
		if (vvar)
			memcpy(dual_head()->vvar.copies[copy], vvar, sizeof(dual_head()->vvar.copies[copy]));
		smp_wmb();
	}
	if (READ_ONCE(dual_head()->vvar.page) != page())
		state_page(page());
	/* Threads that compute here have lost the CPU, or Linux would not run: they look again. */
	dual_runners_look(was_set);
	return NOTIFY_OK;
}

static struct notifier_block block = { .notifier_call = advanced };

#if __has_include(<asm/vvar.h>)
/* Where the clocks are in the page. */
#undef _ASM_X86_VVAR_H
#define EMIT_VVAR(name, offset) enum { name##_offset = offset };
#include <asm/vvar.h>

/* The entry of the current process's page tables for an address, or one that is not present. */
static pte_t entry(unsigned long address)
{
	pgd_t *pgd = pgd_offset(current->mm, address);
	p4d_t *p4d = pgd_present(*pgd) ? p4d_offset(pgd, address) : NULL;
	pud_t *pud = p4d && p4d_present(*p4d) ? pud_offset(p4d, address) : NULL;
	pmd_t *pmd = pud && pud_present(*pud) && !pud_leaf(*pud) ? pmd_offset(pud, address) : NULL;

	return pmd && pmd_present(*pmd) && !pmd_leaf(*pmd) ? *pte_offset_kernel(pmd, address) : __pte(0);
}

/* How the clocks in a page of the current process are read, or a negative number. */
static s32 mode_at(unsigned long address)
{
	s32 mode;

	address += PILLION_DUAL_VVAR_FIRST + offsetof(struct vdso_data, clock_mode);
	return get_user(mode, (s32 __user *)address) ? -EFAULT : mode;
}

/*
 * Finds the page of the vDSO in the current process: all have the same one. No symbol and no
 * function leads there. A process with a time name space has the page of that in its place, and the
 * other one beside it.
 */
static const void *find_vvar(void)
{
	const struct vdso_image *image = current->mm ? current->mm->context.vdso_image : NULL;
	unsigned long address;
	pte_t found;
	s32 mode;

	BUILD_BUG_ON(_vdso_data_offset != PILLION_DUAL_VVAR_FIRST);
	BUILD_BUG_ON(CS_BASES * sizeof(struct vdso_data) > PILLION_DUAL_VVAR_BYTES);
	if (!image || !current->mm->context.vdso)
		return NULL;
	address = (unsigned long)current->mm->context.vdso + image->sym_vvar_page;
	mode = mode_at(address);
	if (mode == VDSO_CLOCKMODE_TIMENS) {
		address = (unsigned long)current->mm->context.vdso + image->sym_timens_page;
		mode = mode_at(address);
	}
	if (mode < 0 || mode == VDSO_CLOCKMODE_TIMENS)
		return NULL;
	mmap_read_lock(current->mm);
	found = entry(address);
	mmap_read_unlock(current->mm);
	return pte_present(found) ? phys_to_virt(PFN_PHYS(pte_pfn(found))) + PILLION_DUAL_VVAR_FIRST : NULL;
}

void dual_clock_touch(void)
{
	const struct vdso_image *image = current->mm->context.vdso_image;
	unsigned long start = (unsigned long)current->mm->context.vdso, offset;
	u32 word;

	if (!image || !start || get_user(word, (u32 __user *)(start + image->sym_vvar_page)))
		return;
	for (offset = 0; offset < image->size; offset += PAGE_SIZE)
		if (get_user(word, (u32 __user *)(start + offset)))
			return;
}
#else
/* A Linux whose vDSO has its clocks elsewhere. */
static const void *find_vvar(void)
{
	return NULL;
}

void dual_clock_touch(void)
{
}
#endif

bool dual_clock_has_page(void)
{
	return vvar && READ_ONCE(dual_head()->vvar.replaced) == page();
}

int dual_clock_open(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(PATIENCE);
	int error;

	vvar = find_vvar();
	/* Registration calls it for the first time. */
	error = pvclock_gtod_register_notifier(&block);
	if (error || !vvar)
		return error;
	while (!dual_clock_has_page() && task_alive(dual_task) && time_before(jiffies, end))
		msleep(1);
	if (!dual_clock_has_page())
		pr_warn("the vDSO stays hidden from marked programs: task %s does not replace its page\n",
			PILLION_DUAL_TASK);
	return 0;
}

void dual_clock_close(void)
{
	unsigned int copy;

	pvclock_gtod_unregister_notifier(&block);
	for (copy = 0; copy < 2; copy++)
		WRITE_ONCE(dual_head()->clocks.copies[copy].valid, 0);
	state_page(0);
}
