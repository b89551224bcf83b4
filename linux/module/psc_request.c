// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to the task that runs functions of processes at real-time priority. The task is more
 * urgent than Linux, so a request is done when the hypercall that announces it returns, unless the
 * task has just used up its budget.
 *
 * The caller waits until the request is answered, or no task is left to answer it: no signal and no
 * timeout ends the wait. Otherwise the next request would be mixed up with it, and handlers would
 * run on page tables that were freed too early.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <asm/cpufeature.h>
#include <asm/io.h>
#include <asm/msr.h>
#include <asm/special_insns.h>

#include "hypercall.h"
#include "page_tables.h"
#include "psc_request.h"
#include "window.h"

#define TASK "psc"

static struct task *task;

/* Allows one request at a time. */
static DEFINE_MUTEX(lock);

static struct pillion_psc *psc(void)
{
	return window.base + window.psc;
}

/* Finds the task. Returns whether there is one. */
bool psc_request_open(void)
{
	task = window_find(TASK);
	return task;
}

struct task *psc_request_task(void)
{
	return task;
}

const struct pillion_psc_slot *psc_request_slot(unsigned int slot)
{
	return &psc()->slots[slot];
}

/* Raises a request whose words are filled in, and returns its result. */
static int carry_out(u64 *request, const u64 *answer, const s64 *result)
{
	u64 number = READ_ONCE(*request) + 1;

	/* The real-time side reads the number first, then the rest. */
	smp_store_release(request, number);
	hypercall(PILLION_HYPERCALL_KICK, task->index);
	/* Pairs with the release when the task answers: the result is complete. */
	while (smp_load_acquire(answer) != number) {
		if (!task_alive(task))
			return -EIO;
		usleep_range(500, 1000);
	}
	return clamp_t(s64, READ_ONCE(*result), -EHWPOISON, 0);
}

static int request(unsigned int number, u32 what)
{
	struct pillion_psc_slot *slot = &psc()->slots[number];

	WRITE_ONCE(slot->command, what);
	return carry_out(&slot->request, &slot->answer, &slot->result);
}

/* Starts a handler of the current process. */
int psc_request_start(unsigned int number, const struct pillion_psc_handler *handler)
{
	struct pillion_psc_slot *slot = &psc()->slots[number];
	u64 fs_base;
	int result;

	rdmsrl(MSR_FS_BASE, fs_base);
	mutex_lock(&lock);
	slot->flags = handler->flags;
	slot->entry = handler->entry;
	slot->stack = handler->stack;
	slot->arguments[0] = handler->arguments[0];
	slot->arguments[1] = handler->arguments[1];
	slot->cr3 = user_page_tables();
	slot->cr4 = __read_cr4();
	slot->fs_base = fs_base;
	slot->period_ns = handler->period_ns;
	slot->line = handler->line;
	result = request(number, PILLION_PSC_START);
	mutex_unlock(&lock);
	return result;
}

/* Ends a handler: it does not run any more if this returns 0, or -EIO because the task is gone. */
int psc_request_stop(unsigned int number)
{
	int result;

	mutex_lock(&lock);
	result = request(number, PILLION_PSC_STOP);
	mutex_unlock(&lock);
	return result;
}

/* Makes or ends a FIFO. */
int psc_request_fifo(u32 number, u32 size)
{
	struct pillion_psc_fifo *fifo = &psc()->fifo;
	int result;

	mutex_lock(&lock);
	fifo->number = number;
	fifo->size = size;
	result = carry_out(&fifo->request, &fifo->answer, &fifo->result);
	mutex_unlock(&lock);
	return result;
}

/* Place of a FIFO's own pages in the window: its control words and both rings, and no more. */
int psc_request_place(unsigned int number, u64 *start, u64 *size)
{
	const struct pillion_fifo_entry *entry = &task->status->fifos[number];
	u64 at = READ_ONCE(entry->control), ring = READ_ONCE(entry->to_task);
	u64 end = PAGE_ALIGN(ring + READ_ONCE(entry->size));

	if (!READ_ONCE(entry->size) || !PAGE_ALIGNED(at) || at < sizeof(*task->share) ||
	    ring < at || end < ring || end > task->share_size)
		return -EIO;
	*start = (void *)task->share - window.base + at;
	*size = end - at;
	return 0;
}
