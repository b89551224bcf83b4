// SPDX-License-Identifier: GPL-2.0-only
/*
 * FIFOs of processes, for their functions that run at real-time priority. Each has pages of its
 * own, and belongs to the open file through which it was made.
 */
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <pillion_psc.h>

#include "fifo.h"
#include "psc_request.h"
#include "psc_fifo.h"
#include "window.h"

/* Owner of the FIFOs that could not be ended: they are not used again. */
#define LOST ((struct owner *)ERR_PTR(-EIO))

/* The file through which each FIFO was made, and its number of mappings. Guarded by `lock`. */
static struct made {
	struct owner *owner;
	unsigned int maps;
} fifos[PILLION_CHANNEL_FIFOS];

static DEFINE_MUTEX(lock);

/* Ends a FIFO. Its memory may be reused: nothing may access it now. Only a broken task refuses. */
static void end(unsigned int number)
{
	bool refused;

	fifo_stop_copying();
	refused = psc_request_fifo(number, 0) && task_alive(psc_request_task());
	fifo_go_on_copying();
	WARN_ON_ONCE(refused);
	fifos[number].owner = refused ? LOST : NULL;
}

/* Ends all FIFOs of a file. They are not mapped: a mapping holds the file. */
void psc_fifo_end_all(struct owner *owner)
{
	unsigned int i;

	mutex_lock(&lock);
	for (i = 0; i < PILLION_CHANNEL_FIFOS; i++)
		if (fifos[i].owner == owner)
			end(i);
	mutex_unlock(&lock);
}

static int make(struct owner *owner, u32 number, u32 size)
{
	int result = fifos[number].owner ? -EBUSY : psc_request_fifo(number, size);

	if (!result)
		fifos[number].owner = owner;
	return result;
}

/* Ends a FIFO for the file through which it was made. */
static int take(struct owner *owner, u32 number)
{
	if (fifos[number].owner != owner)
		return fifos[number].owner ? -EPERM : -EINVAL;
	if (fifos[number].maps)
		return -EBUSY;
	end(number);
	return 0;
}

/* Makes a FIFO for a file, or ends it if the size is 0. */
int psc_fifo_change(struct owner *owner, u32 number, u32 size)
{
	int result;

	if (number >= PILLION_CHANNEL_FIFOS)
		return -EINVAL;
	mutex_lock(&lock);
	result = size ? make(owner, number, size) : take(owner, number);
	mutex_unlock(&lock);
	return result;
}

static void map_opened(struct vm_area_struct *vma)
{
	struct made *made = vma->vm_private_data;

	mutex_lock(&lock);
	made->maps++;
	mutex_unlock(&lock);
}

static void map_closed(struct vm_area_struct *vma)
{
	struct made *made = vma->vm_private_data;

	mutex_lock(&lock);
	made->maps--;
	mutex_unlock(&lock);
}

static const struct vm_operations_struct map_operations = {
	.open = map_opened,
	.close = map_closed,
};

/* Whether a process has a FIFO of the task mapped, possibly from an earlier life of the task. */
bool psc_fifo_is_mapped(const struct task *task)
{
	bool mapped = false;
	unsigned int i;

	if (task != psc_request_task())
		return false;
	mutex_lock(&lock);
	for (i = 0; i < PILLION_CHANNEL_FIFOS; i++)
		mapped |= fifos[i].maps != 0;
	mutex_unlock(&lock);
	return mapped;
}

/*
 * Maps a FIFO: its own pages, from its control words to the end of its second ring. The mapping
 * holds the file, and with it the FIFO.
 */
static int map(struct owner *owner, struct vm_area_struct *vma, u64 number, u64 first)
{
	u64 start, size;
	int error;

	if (number >= PILLION_CHANNEL_FIFOS || fifos[number].owner != owner)
		return -EACCES;
	error = psc_request_place(number, &start, &size);
	if (!error)
		error = window_mmap(vma, first, start, size);
	if (error)
		return error;
	vma->vm_ops = &map_operations;
	vma->vm_private_data = &fifos[number];
	fifos[number].maps++;
	return 0;
}

/* Maps what a process requests of the FIFO at the offset. */
int psc_fifo_map(struct owner *owner, struct vm_area_struct *vma)
{
	const unsigned int shift = PILLION_PSC_FIFO_SHIFT - PAGE_SHIFT;
	u64 number = vma->vm_pgoff >> shift, first = vma->vm_pgoff & (BIT_ULL(shift) - 1);
	int error;

	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	mutex_lock(&lock);
	error = map(owner, vma, number, first);
	mutex_unlock(&lock);
	return error;
}
