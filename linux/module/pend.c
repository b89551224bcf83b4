// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux interrupts that tasks raise (rtl_global_pend_irq). Their handlers need hard interrupt
 * context, which the doorbell's handler does not have on PREEMPT_RT, so this uses irq_work.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irq_work.h>
#include <linux/irqdesc.h>
#include <linux/module.h>

#include "pend.h"
#include "window.h"

static bool pend = true;
module_param(pend, bool, 0444);
MODULE_PARM_DESC(pend, "let tasks raise interrupts of Linux (default: yes)");

/* The doorbell's interrupt. */
static unsigned int doorbell;

/* Tasks must not raise an interrupt without a handler, or the doorbell itself. */
static void raise(unsigned int irq)
{
	if (irq == doorbell || !irq_has_action(irq))
		pr_warn_ratelimited("a task asks for interrupt %u, which has no handler\n", irq);
	else
		generic_handle_irq(irq);
}

static void raise_all(struct irq_work *work)
{
	unsigned int task, word;
	u64 bits;

	for (task = 0; task < window.task_count; task++) {
		for (word = 0; word < ARRAY_SIZE(window.tasks[task].share->pended); word++) {
			bits = xchg(&window.tasks[task].share->pended[word], 0);
			for (; bits; bits &= bits - 1)
				raise(word * 64 + __ffs64(bits));
		}
	}
}

static struct irq_work work = IRQ_WORK_INIT_HARD(raise_all);

/* From now on tasks may raise any interrupt but @irq, the doorbell's. */
void pend_open(unsigned int irq)
{
	doorbell = irq;
}

/* A task has raised interrupts. */
void pend_ring(void)
{
	if (pend)
		irq_work_queue(&work);
}

/* After this no more interrupts are raised, if the doorbell is closed. */
void pend_close(void)
{
	irq_work_sync(&work);
}
