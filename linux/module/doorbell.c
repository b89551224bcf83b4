// SPDX-License-Identifier: GPL-2.0-only
/* The interrupt with which the real-time side reports that there is something to check. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/acpi.h>
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/interrupt.h>

#include "doorbell.h"
#include "dual.h"
#include "fifo.h"
#include "hypercall.h"
#include "log.h"
#include "pend.h"
#include "window.h"

static int irq;
static u64 generation;

/*
 * Takes the bits of a word that a task raises. The exchange is a full barrier: everything that the
 * task did before it set a bit is visible after it. A task rings only when the word was 0, so all
 * bits must be taken.
 */
static u64 take(u64 *word)
{
	return READ_ONCE(*word) ? xchg(word, 0) : 0;
}

static void look_at(struct task *task)
{
	u64 fifos = take(&task->share->events[0]);
	u64 others = take(&task->share->events[1]);

	for (; fifos; fifos &= fifos - 1)
		fifo_ring(task, __ffs64(fifos));
	if (others & PILLION_EVENT_LOG)
		log_ring();
	if (others & PILLION_EVENT_PENDED)
		pend_ring();
}

static void look_around(void)
{
	/* What changed was written before that. */
	u64 now = smp_load_acquire(&window.directory->generation);
	unsigned int i;

	for (i = 0; i < window.task_count; i++)
		look_at(&window.tasks[i]);
	dual_ring();
	if (now != generation) {
		generation = now;
		fifo_ring_all();
		log_ring();
	}
}

static irqreturn_t rung(int number, void *cookie)
{
	look_around();
	return IRQ_HANDLED;
}

/* Registers the line, tells the monitor that it may ring, and checks for what was raised before. */
int doorbell_open(void)
{
	int error;

	irq = acpi_register_gsi(NULL, window.gsi, ACPI_EDGE_SENSITIVE, ACPI_ACTIVE_HIGH);
	if (irq < 0) {
		pr_err("there is no interrupt line %u\n", window.gsi);
		return irq;
	}
	pend_open(irq);
	error = request_irq(irq, rung, 0, "pillion", &window);
	if (error)
		goto unregister;
	if (hypercall(PILLION_HYPERCALL_HELLO, 1)) {
		pr_err("the monitor refuses to ring the doorbell\n");
		error = -EIO;
		goto free;
	}
	look_around();
	return 0;
free:
	free_irq(irq, &window);
unregister:
	acpi_unregister_gsi(window.gsi);
	return error;
}

void doorbell_close(void)
{
	hypercall(PILLION_HYPERCALL_HELLO, 0);
	free_irq(irq, &window);
	acpi_unregister_gsi(window.gsi);
}

unsigned int doorbell_irq(void)
{
	return irq;
}
