// SPDX-License-Identifier: GPL-2.0-only
/* Threads that were in primary mode, as they are shown. */
#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>

#include "dual.h"
#include "json.h"
#include "names.h"
#include "symbols.h"

bool dual_look(int device, unsigned int index, struct pillion_dual_thread *thread)
{
	struct pillion_dual_look look = { .index = index };

	if (ioctl(device, PILLION_IOC_DUAL_LOOK, &look))
		return false;
	*thread = look.thread;
	return true;
}

void dual_heading(FILE *out)
{
	fprintf(out, "dual mode:\n");
	fprintf(out, "  %7s %7s %-15s %-9s %8s %9s %11s %11s %11s %11s %11s %9s %9s\n", "THREAD", "PROCESS", "NAME",
		"MODE", "PRIORITY", "ENTRIES", "ANSWERED", "WAITS", "PRIMARY(ms)", "LINUX(ms)", "LATENCY(us)",
		"OVERRUNS", "EXHAUSTED");
}

/* Why it went to Linux, and with which system calls. */
static void left(FILE *out, const struct pillion_dual_thread *thread)
{
	const char *between = "          to Linux:";
	unsigned int i;

	for (i = 0; i < PILLION_DUAL_LEFT_REASONS; i++) {
		if (!thread->left[i])
			continue;
		fprintf(out, "%s %s %" PRIu64, between, name_of_left(i), (uint64_t)thread->left[i]);
		between = ",";
	}
	between = "; calls:";
	for (i = 0; i < PILLION_DUAL_CALLS; i++) {
		if (!thread->calls[i].count)
			continue;
		fprintf(out, "%s %s %" PRIu32, between, name_of_call(thread->calls[i].number), thread->calls[i].count);
		between = ",";
	}
}

void dual_text(FILE *out, const struct pillion_dual_thread *original)
{
	struct pillion_dual_thread copy = *original;
	const struct pillion_dual_thread *thread = &copy;
	unsigned int i;

	make_plain(copy.name, sizeof(copy.name));
	fprintf(out,
		"  %7u %7u %-15.15s %-9s %8u %9" PRIu64 " %11" PRIu64 " %11" PRIu64 " %11.3f %11.3f %11.1f %9" PRIu64
		" %9" PRIu64 "\n",
		thread->thread, thread->process, thread->name, name_of_dual_mode(thread->mode), thread->priority,
		(uint64_t)thread->entries, (uint64_t)thread->answered, (uint64_t)thread->waits, thread->primary_ns / 1e6,
		thread->secondary_ns / 1e6, thread->latency_max_ns / 1e3, (uint64_t)thread->overruns,
		(uint64_t)thread->exhausted);
	for (i = 0; i < PILLION_DUAL_LEFT_REASONS; i++) {
		if (thread->left[i]) {
			left(out, thread);
			fprintf(out, "\n");
			break;
		}
	}
}

void dual_advice(FILE *out, const struct pillion_dual_thread *thread)
{
	char name[sizeof(thread->name)];

	memcpy(name, thread->name, sizeof(name));
	make_plain(name, sizeof(name));
	if (thread->exhausted)
		fprintf(out, "          thread %u (%.16s) used up its budget in %" PRIu64 " period%s, and waited for the next:"
			" give it more by budget_us of [dual] in the system file, of each period_us\n",
			thread->thread, name, (uint64_t)thread->exhausted, thread->exhausted == 1 ? "" : "s");
	else if (thread->overruns)
		fprintf(out, "          thread %u (%.16s) was late for %" PRIu64 " point%s of time: it computes for too long, or"
			" was in Linux or below more urgent threads meanwhile\n",
			thread->thread, name, (uint64_t)thread->overruns, thread->overruns == 1 ? "" : "s");
}

static void left_json(const struct pillion_dual_thread *thread)
{
	const char *between = "";
	unsigned int i;

	printf(",\"left\":{");
	for (i = 0; i < PILLION_DUAL_LEFT_REASONS; i++)
		printf("%s\"%s\":%" PRIu64, i ? "," : "", name_of_left(i), (uint64_t)thread->left[i]);
	printf("},\"calls\":[");
	for (i = 0; i < PILLION_DUAL_CALLS; i++) {
		if (!thread->calls[i].count)
			continue;
		printf("%s{\"number\":%" PRIu32 ",\"name\":\"%s\",\"count\":%" PRIu32 "}", between, thread->calls[i].number,
		       name_of_call(thread->calls[i].number), thread->calls[i].count);
		between = ",";
	}
	printf("]");
}

void dual_json(const struct pillion_dual_thread *thread)
{
	printf("{\"thread\":%u,\"process\":%u,\"name\":", thread->thread, thread->process);
	json_text(thread->name, sizeof(thread->name));
	printf(",\"mode\":\"%s\",\"priority\":%u,\"entries\":%" PRIu64, name_of_dual_mode(thread->mode), thread->priority,
	       (uint64_t)thread->entries);
	left_json(thread);
	printf(",\"answered\":%" PRIu64 ",\"waits\":%" PRIu64 ",\"primary_ns\":%" PRIu64 ",\"secondary_ns\":%" PRIu64
	       ",\"overruns\":%" PRIu64 ",\"exhausted\":%" PRIu64 ",\"latency_max_ns\":%" PRIu64 "}",
	       (uint64_t)thread->answered, (uint64_t)thread->waits, (uint64_t)thread->primary_ns,
	       (uint64_t)thread->secondary_ns, (uint64_t)thread->overruns, (uint64_t)thread->exhausted,
	       (uint64_t)thread->latency_max_ns);
}

bool dual_look_place(int device, unsigned int index, struct pillion_dual_place *place)
{
	struct pillion_dual_look_place look = { .index = index };

	if (ioctl(device, PILLION_IOC_DUAL_PLACE, &look))
		return false;
	*place = look.place;
	return true;
}

static const struct {
	const char *why, *remedy;
} obstacles[PILLION_DUAL_OBSTACLES] = {
	[PILLION_DUAL_OBSTACLE_LIMIT] = { "its memory is more than RLIMIT_MEMLOCK lets it lock",
					  "raise that (`ulimit -l`, limits.conf)" },
	[PILLION_DUAL_OBSTACLE_SIZE] = { "its memory is more than half of Linux's", "use less, or give Linux more" },
	[PILLION_DUAL_OBSTACLE_MEMORY] = { "its memory could not be pinned, or a process with a mark shares all of it",
					   "look for pillion in `dmesg`" },
	[PILLION_DUAL_OBSTACLE_THREADS] = { "all threads of [dual] were in use",
					    "raise `threads` in the system file" },
	[PILLION_DUAL_OBSTACLE_AFFINITY] = { "its affinity excludes the first processor, where dual mode is",
					     "let it run there (`taskset`, sched_setaffinity)" },
	[PILLION_DUAL_OBSTACLE_TRACED] = { "it was traced", "let it run without debugger and strace" },
	[PILLION_DUAL_OBSTACLE_FILTERED] = { "its system calls are filtered or traced",
					     "run it without seccomp (SystemCallFilter= of its service)" },
	[PILLION_DUAL_OBSTACLE_STATE] = { "it has segments, single steps or a shadow stack", "do without" },
	[PILLION_DUAL_OBSTACLE_CLOCKS] = { "it is in a time namespace with clocks of its own",
					   "start it outside, or without offsets" },
	[PILLION_DUAL_OBSTACLE_RIGHTS] = { "its user changed, or it gained rights",
					   "mark it in the program after that (PILLION_IOC_DUAL_MARK)" },
	[PILLION_DUAL_OBSTACLE_TASK] = { "the task of dual mode has ended", "look at `pillion dmesg`" },
};

bool dual_obstacles(FILE *out, int device, const char *program)
{
	uint32_t found = 0;
	unsigned int i;

	if (ioctl(device, PILLION_IOC_DUAL_OBSTACLES, &found))
		return false;
	for (i = 0; i < PILLION_DUAL_OBSTACLES; i++)
		if (found & 1u << i)
			fprintf(out, "pillion: a thread of %s stayed in Linux: %s; %s\n", program, obstacles[i].why,
				obstacles[i].remedy);
	return found;
}

static void frame_text(FILE *out, const struct pillion_dual_place *place, unsigned int index)
{
	const struct pillion_dual_frame *frame = &place->frames[index];
	/* A return address may be that of the next function already. */
	uint64_t offset = index ? frame->offset - 1 : frame->offset, inside;
	char name[128], file[PILLION_DUAL_PATH];

	fprintf(out, "          %c %#" PRIx64, frame->flags & PILLION_DUAL_FRAME_SURE ? ' ' : '?', (uint64_t)frame->address);
	if (frame->file >= place->file_count) {
		fprintf(out, "\n");
		return;
	}
	if (symbol_find(place->files[frame->file], offset, name, sizeof(name), &inside)) {
		make_plain(name, sizeof(name));
		fprintf(out, " %s+%#" PRIx64, name, inside + (index ? 1 : 0));
	}
	memcpy(file, place->files[frame->file], sizeof(file));
	make_plain(file, sizeof(file));
	fprintf(out, " (%.*s+%#" PRIx64 ")\n", (int)sizeof(file), file, (uint64_t)frame->offset);
}

void dual_place_text(FILE *out, const struct pillion_dual_place *place)
{
	unsigned int i;

	fprintf(out, "  first %s", name_of_left(place->reason));
	if (place->reason == PILLION_DUAL_LEFT_CALL)
		fprintf(out, " %s", name_of_call(place->number));
	else if (place->reason == PILLION_DUAL_LEFT_FAULT)
		fprintf(out, " at %#" PRIx64, (uint64_t)place->address);
	else if (place->reason == PILLION_DUAL_LEFT_EXCEPTION)
		fprintf(out, " %" PRIu32, place->number);
	fprintf(out, ", thread %" PRIu32 ":\n", place->thread);
	for (i = 0; i < place->frame_count && i < PILLION_DUAL_FRAMES; i++)
		frame_text(out, place, i);
}
