// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of messages that a thread in Linux sends or receives by a call of primary mode: it has to
 * be there while the task uses it.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <asm/ptrace.h>

#include "dual.h"

void dual_message_unpin(struct dual_message *message)
{
	if (message->count > 0)
		unpin_user_pages(message->pages, message->count);
	message->count = 0;
}

/* Keeps the memory of the message of the current thread's call, if it has one. */
int dual_message_pin(struct dual_message *message, unsigned int number, const struct pt_regs *regs)
{
	bool is_received = number == PILLION_DUAL_SERVICE_QUEUE_RECEIVE;
	unsigned long begin = regs->r10, size = min_t(u32, regs->r8, DUAL_MESSAGE_BYTES), pages;

	message->count = 0;
	if (!is_received && number != PILLION_DUAL_SERVICE_QUEUE_SEND)
		return 0;
	pages = size ? DIV_ROUND_UP(offset_in_page(begin) + size, PAGE_SIZE) : 0;
	if (!pages)
		return 0;
	message->count = pin_user_pages_fast(begin & PAGE_MASK, pages, is_received ? FOLL_WRITE : 0, message->pages);
	/* The task does not mark pages as written. */
	if (message->count == pages && (!is_received || !fault_in_safe_writeable((char __user *)begin, size)))
		return 0;
	dual_message_unpin(message);
	return -EFAULT;
}
