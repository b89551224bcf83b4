/* SPDX-License-Identifier: GPL-2.0-only */
/* The page tables of a process, as code in user mode runs on them. */
#ifndef PAGE_TABLES_H
#define PAGE_TABLES_H

#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <asm/cpufeature.h>
#include <asm/io.h>

/* Those of the current process. With page-table isolation they come after those of the kernel. */
static inline u64 user_page_tables(void)
{
	u64 root = __pa(current->mm->pgd);

	return boot_cpu_has(X86_FEATURE_PTI) ? root + PAGE_SIZE : root;
}

#endif
