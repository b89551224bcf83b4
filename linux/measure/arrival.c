// SPDX-License-Identifier: GPL-2.0-only
/* The stamps of the last interrupt, for the process that waits for it. */
#include <linux/completion.h>

#include "measure.h"
#include "source.h"

/* The process that raises interrupts waits until one was read before it raises the next. */
static struct measure_stamps last;

/* Even on PREEMPT_RT, a completion is safe in a hard interrupt handler; a wait queue is not. */
static DECLARE_COMPLETION(arrival);

void arrived(u64 due, u64 handled)
{
	last.due = due;
	last.handled = handled;
	complete(&arrival);
}

int arrival_wait(struct measure_stamps *stamps)
{
	int error = wait_for_completion_interruptible(&arrival);

	if (!error)
		*stamps = last;
	return error;
}

void arrival_forget(void)
{
	reinit_completion(&arrival);
}
