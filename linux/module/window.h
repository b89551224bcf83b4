/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory that real-time tasks and Linux share. */
#ifndef WINDOW_H
#define WINDOW_H

#include <linux/compiler.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <pillion_channel.h>

/*
 * A task, and the addresses of its parts of the window. All of it was checked when the module was
 * loaded, and does not change.
 */
struct task {
	unsigned int index;
	char name[sizeof_field(struct pillion_task_entry, name) + 1];
	const struct pillion_status *status;
	struct pillion_share *share;
	u64 share_size;
	/* Held while share->ioctl is in use. */
	struct mutex ioctl;
};

struct window {
	phys_addr_t address;
	u64 size;
	/* Number of the doorbell's interrupt line. */
	u32 gsi;
	void *base;
	const struct pillion_directory *directory;
	struct pillion_command *orders;
	u64 pool;
	u64 pool_size;
	/* Offset of `struct pillion_psc`. No process maps that or anything after it. */
	u64 psc;
	/* Offset and size of `struct pillion_dual` and its slots; size 0: no dual mode. */
	u64 dual;
	u64 dual_size;
	unsigned int task_count;
	struct task tasks[PILLION_CHANNEL_TASKS];
};

extern struct window window;

int window_open(void);
void window_close(void);
struct task *window_find(const char *name);
int window_mmap(struct vm_area_struct *vma, u64 first, u64 offset, u64 size);

static inline u32 task_state(const struct task *task)
{
	return READ_ONCE(window.directory->tasks[task->index].state);
}

/* Whether the task is there to answer. */
static inline bool task_alive(const struct task *task)
{
	u32 state = task_state(task);

	return state == PILLION_TASK_STARTING || state == PILLION_TASK_RUNNING ||
	       state == PILLION_TASK_STOPPING;
}

#endif
