/* SPDX-License-Identifier: GPL-2.0-only */
/* FIFOs of processes, for their functions that run at real-time priority. */
#ifndef PSC_FIFO_H
#define PSC_FIFO_H

#include <linux/mm_types.h>
#include <linux/types.h>

struct owner;
struct task;

int psc_fifo_change(struct owner *owner, u32 number, u32 size);
void psc_fifo_end_all(struct owner *owner);
int psc_fifo_map(struct owner *owner, struct vm_area_struct *vma);
bool psc_fifo_is_mapped(const struct task *task);

#endif
