// SPDX-License-Identifier: GPL-2.0-only
/* What `pillion ps --json` shows to programs. */
#include <inttypes.h>
#include <stdio.h>

#include "json.h"
#include "names.h"
#include "shown.h"

static void fault(const struct pillion_fault_report *fault)
{
	printf(",\"fault\":{\"thread\":%" PRIu64 ",\"vector\":%" PRIu64 ",\"error\":%" PRIu64 ",\"address\":%" PRIu64
	       ",\"instruction\":%" PRIu64 ",\"stack\":%" PRIu64 "}",
	       fault->thread, fault->vector, fault->error, fault->address, fault->rip, fault->rsp);
}

static void thread(const struct shown *task, unsigned int number)
{
	const struct pillion_thread_entry *thread = &task->status->threads[number];

	printf("{\"thread\":%u,\"cpu\":%" PRIu64
	       ",\"mode\":\"%s\",\"state\":\"%s\",\"priority\":%u,\"level\":%u,\"period_ns\":%" PRIu64,
	       number, task->usage[number].cpu, name_of_mode(thread->mode), name_of_thread_state(thread->state),
	       thread->priority, thread->level, thread->period_ns);
	printf(",\"cpu_ns\":%" PRIu64 ",\"releases\":%" PRIu64 ",\"overruns\":%" PRIu64 ",\"latency_max_ns\":%" PRIu64
	       ",\"exhausted\":%" PRIu64 ",\"busy\":%s,\"entry\":%" PRIu64 "}",
	       pillion_nanoseconds(task->view, task->usage[number].ticks), thread->releases, thread->overruns,
	       thread->latency_max_ns, task->usage[number].exhausted,
	       is_busy(task, number) ? "true" : "false", thread->entry);
}

static void threads(const struct shown *task)
{
	const char *between = "";
	unsigned int i;

	for (i = 0; i < PILLION_CHANNEL_THREADS; i++) {
		if (task->status->threads[i].state == PILLION_THREAD_FREE)
			continue;
		printf("%s", between);
		between = ",";
		thread(task, i);
	}
}

static void fifo(const struct shown *task, unsigned int number)
{
	const struct pillion_fifo_entry *entry = &task->status->fifos[number];
	const struct pillion_fifo_control *control = pillion_task_fifo(task->view, task->number, number);
	struct pillion_fifo_fill fill;

	printf("{\"fifo\":%u,\"size\":%u,", number, entry->size);
	if (pillion_fifo_fill(entry, control, &fill))
		printf("\"to_linux\":%" PRIu64 ",\"to_task\":%" PRIu64, fill.to_linux, fill.to_task);
	else
		printf("\"to_linux\":null,\"to_task\":null");
	printf(",\"open\":%s,\"read_of\":%u,\"handler\":%s,\"ioctl_handler\":%s,\"repairs\":%" PRIu64 "}",
	       control->opens ? "true" : "false", entry->read_from,
	       entry->flags & PILLION_FIFO_HANDLER ? "true" : "false",
	       entry->flags & PILLION_FIFO_IOCTL ? "true" : "false", entry->damaged);
}

static void fifos(const struct shown *task)
{
	const char *between = "";
	unsigned int i;

	for (i = 0; i < PILLION_CHANNEL_FIFOS; i++) {
		if (!task->status->fifos[i].size)
			continue;
		printf("%s", between);
		between = ",";
		fifo(task, i);
	}
}

void ps_json(const struct shown *task)
{
	const struct pillion_task_entry *entry = task->entry;

	printf("{\"name\":");
	json_text((const char *)entry->name, sizeof(entry->name));
	printf(",\"state\":\"%s\",\"starts\":%u,\"result\":%d,\"max_threads\":%u,\"cpu\":%" PRIu64,
	       name_of_task_state(entry->state), entry->starts, entry->result, entry->threads, entry->cpu);
	if (entry->state == PILLION_TASK_FAULTED)
		fault(&entry->fault);
	printf(",\"threads\":[");
	if (is_loaded(task))
		threads(task);
	printf("],\"fifos\":[");
	if (is_loaded(task))
		fifos(task);
	printf("]}");
}
