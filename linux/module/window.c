// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the window, maps it, and checks that all of its parts are inside. The directory is the
 * resource manager's, which Linux has to trust anyway; the checks are for a module and a system
 * that do not match.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "window.h"

/* The leaf before the window's leaf holds the hypervisor's name. */
#define SIGNATURE_LEAF (PILLION_CPUID_LEAF - 1)

struct window window;

static bool on_pillion(void)
{
	char name[12];
	u32 last;

	if (!boot_cpu_has(X86_FEATURE_HYPERVISOR))
		return false;
	cpuid(SIGNATURE_LEAF, &last, (u32 *)name, (u32 *)(name + 4), (u32 *)(name + 8));
	return !memcmp(name, "PillionHV\0\0\0", sizeof(name)) && last >= PILLION_CPUID_LEAF;
}

/* Asks the hypervisor where the window is. */
static int locate(void)
{
	u32 version, pages, first;

	if (!on_pillion()) {
		pr_err("this is not Linux on Pillion: there are no real-time tasks to talk to\n");
		return -ENODEV;
	}
	cpuid(PILLION_CPUID_LEAF, &version, &window.gsi, &first, &pages);
	if (!version || !pages) {
		pr_err("this Pillion runs no task that talks to Linux (system.toml: skin = \"rtlinux\")\n");
		return -ENODEV;
	}
	if (version != PILLION_CHANNEL_VERSION) {
		pr_err("Pillion's channels have version %u, this module is for %u\n", version,
		       PILLION_CHANNEL_VERSION);
		return -ENODEV;
	}
	window.address = (phys_addr_t)first << PAGE_SHIFT;
	window.size = (u64)pages << PAGE_SHIFT;
	return 0;
}

/* Whether a part lies within the window, with its type's alignment. */
static bool holds(u64 offset, u64 size, u64 alignment)
{
	u64 end;

	return IS_ALIGNED(offset, alignment) && !check_add_overflow(offset, size, &end) &&
	       end <= window.size;
}

/* The part for dual mode, where no process can map it: a head and slots, or nothing. */
static bool holds_dual(const struct pillion_directory *directory)
{
	u64 size = directory->dual_size;

	return holds(directory->dual, size, PAGE_SIZE) && directory->dual >= directory->psc &&
	       (!size || size >= sizeof(struct pillion_dual) + sizeof(struct pillion_dual_slot));
}

static bool add_task(unsigned int index)
{
	const struct pillion_task_entry *entry = &window.directory->tasks[index];
	struct task *task = &window.tasks[index];

	if (!holds(entry->status, sizeof(struct pillion_status), 64) ||
	    !holds(entry->share, entry->share_size, 64) ||
	    entry->share_size < sizeof(struct pillion_share))
		return false;
	task->index = index;
	memcpy(task->name, entry->name, sizeof(entry->name));
	task->status = window.base + entry->status;
	task->share = window.base + entry->share;
	task->share_size = entry->share_size;
	mutex_init(&task->ioctl);
	return true;
}

static bool take_directory(void)
{
	const struct pillion_directory *directory = window.base;
	unsigned int i;

	if (window.size < sizeof(*directory) || directory->magic != PILLION_CHANNEL_MAGIC ||
	    directory->version != PILLION_CHANNEL_VERSION || directory->size != window.size ||
	    directory->task_count > PILLION_CHANNEL_TASKS || !directory->tsc_hz ||
	    !holds(directory->usage, sizeof(struct pillion_usage), 8) ||
	    !holds(directory->command, sizeof(struct pillion_command), 8) ||
	    !holds(directory->pool, directory->pool_size, PAGE_SIZE) ||
	    !holds(directory->psc, sizeof(struct pillion_psc), PAGE_SIZE) ||
	    !holds_dual(directory))
		return false;
	window.directory = directory;
	window.orders = window.base + directory->command;
	window.pool = directory->pool;
	window.pool_size = directory->pool_size;
	window.psc = directory->psc;
	window.dual = directory->dual;
	window.dual_size = directory->dual_size;
	window.task_count = directory->task_count;
	for (i = 0; i < window.task_count; i++)
		if (!add_task(i))
			return false;
	return true;
}

int window_open(void)
{
	int error = locate();

	if (error)
		return error;
	window.base = memremap(window.address, window.size, MEMREMAP_WB);
	if (!window.base)
		return -ENOMEM;
	if (take_directory())
		return 0;
	pr_err("the window at %pa has no directory of version %u\n", &window.address,
	       PILLION_CHANNEL_VERSION);
	window_close();
	return -ENODEV;
}

void window_close(void)
{
	memunmap(window.base);
}

struct task *window_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < window.task_count; i++)
		if (!strcmp(window.tasks[i].name, name))
			return &window.tasks[i];
	return NULL;
}

/*
 * Maps what a process requests, from the page `first` on, within a range of whole pages of the
 * window that no process may leave.
 */
int window_mmap(struct vm_area_struct *vma, u64 first, u64 offset, u64 size)
{
	u64 length = vma->vm_end - vma->vm_start;
	u64 pages = size >> PAGE_SHIFT;
	unsigned long frame = ((window.address + offset) >> PAGE_SHIFT) + first;

	if (first > pages || length >> PAGE_SHIFT > pages - first || offset >= window.psc ||
	    size > window.psc - offset)
		return -EINVAL;
	return remap_pfn_range(vma, vma->vm_start, frame, length, vma->vm_page_prot);
}
