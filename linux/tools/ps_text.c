// SPDX-License-Identifier: GPL-2.0-only
/* What `pillion ps` shows to people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "shown.h"

static void fault(const struct pillion_fault_report *fault)
{
	printf("  fault in thread %" PRIu64 ": exception %" PRIu64 ", error %#" PRIx64 ", address %#" PRIx64
	       ", instruction %#" PRIx64 ", stack %#" PRIx64 "\n",
	       fault->thread, fault->vector, fault->error, fault->address, fault->rip, fault->rsp);
}

static void thread(const struct shown *task, unsigned int number)
{
	const struct pillion_thread_entry *thread = &task->status->threads[number];

	printf("  %6u %-9s %-9s %9" PRIu64 " %8u %5u %11.1f", number, name_of_mode(thread->mode),
	       name_of_thread_state(thread->state), task->usage[number].cpu, thread->priority, thread->level,
	       thread->period_ns / 1e3);
	printf(" %11.3f %9" PRIu64 " %8" PRIu64 " %11.1f %9" PRIu64 "%s\n", run_time(task, number), thread->releases,
	       thread->overruns, thread->latency_max_ns / 1e3, task->usage[number].exhausted,
	       is_busy(task, number) ? "  uses all its time" : "");
}

static void threads(const struct shown *task)
{
	unsigned int i;

	printf("  %6s %-9s %-9s %9s %8s %5s %11s %11s %9s %8s %11s %9s\n", "THREAD", "MODE", "STATE", "PROCESSOR",
	       "PRIORITY", "LEVEL", "PERIOD(us)", "CPU(ms)", "RELEASES", "OVERRUNS", "LATENCY(us)", "EXHAUSTED");
	for (i = 0; i < PILLION_CHANNEL_THREADS; i++)
		if (task->status->threads[i].state != PILLION_THREAD_FREE)
			thread(task, i);
}

static void fifo(const struct shown *task, unsigned int number)
{
	const struct pillion_fifo_entry *entry = &task->status->fifos[number];
	const struct pillion_fifo_control *control = pillion_task_fifo(task->view, task->number, number);
	struct pillion_fifo_fill fill;

	printf("  %6u %10u ", number, entry->size);
	if (pillion_fifo_fill(entry, control, &fill))
		printf("%10" PRIu64 " %10" PRIu64, fill.to_linux, fill.to_task);
	else
		printf("%10s %10s", "damaged", "damaged");
	printf(" %5s %7u %8s %8" PRIu64 "\n", control->opens ? "yes" : "no", entry->read_from,
	       entry->flags & PILLION_FIFO_HANDLER ? "yes" : "no", entry->damaged);
}

static void fifos(const struct shown *task)
{
	bool first = true;
	unsigned int i;

	for (i = 0; i < PILLION_CHANNEL_FIFOS; i++) {
		if (!task->status->fifos[i].size)
			continue;
		if (first)
			printf("  %6s %10s %10s %10s %5s %7s %8s %8s\n", "FIFO", "SIZE", "TO-LINUX", "TO-TASK",
			       "OPEN", "READ-OF", "HANDLER", "REPAIRS");
		first = false;
		fifo(task, i);
	}
}

void ps_text(const struct shown *task)
{
	const struct pillion_task_entry *entry = task->entry;

	printf("%.32s: %s, started %u %s, at most %u %s, starts on processor %" PRIu64, entry->name,
	       name_of_task_state(entry->state), entry->starts, entry->starts == 1 ? "time" : "times", entry->threads,
	       entry->threads == 1 ? "thread" : "threads", entry->cpu);
	if (entry->result)
		printf(", init_module: %s", strerror(-entry->result));
	printf("\n");
	if (entry->state == PILLION_TASK_FAULTED)
		fault(&entry->fault);
	if (is_loaded(task)) {
		threads(task);
		fifos(task);
	}
}
