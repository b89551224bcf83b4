/*
 * What is charged between markers.
 *
 * The response to an interrupt is taken apart: `entry` from the interrupt to the kernel's first
 * instruction, `handler` from there to the first instruction of the response, `total` both. When
 * exactly the interrupt came is not known; the latest instant at which the processor would have
 * taken it at once is: before that it was not there yet. So `entry` is the longest that it can have
 * waited.
 *
 * Which interrupt is responded to: the last one, if the program says no more. One that says how
 * late it is was woken by the first interrupt since then; a system that is slow to respond may have
 * taken others meanwhile.
 */
#ifndef MODEL_SPAN_H
#define MODEL_SPAN_H

#include "histogram.h"
#include "machine.h"

enum { MOST_WORKS = 4096, MOST_INTERRUPTS = 64 };

/* A series of samples, in nanoseconds and in cycles. */
struct series {
	struct histogram time, cycles;
};

/* What happened so far, or in a span. */
struct happened {
	cost charged, for_events;
	uint64_t instructions, l1i_misses, l1d_misses, l2_misses, l3_misses, walks, write_backs, device_accesses, space_loads;
};

/* An interrupt was there, and the kernel was entered for it. */
struct interrupt {
	struct happened taken, entered;
};

struct spans {
	/* Responses, and pieces of work, that are no samples at first; and those that were so far. */
	uint64_t skip, responses, pieces;
	struct series entry, handler, total, work;
	/* How late those were that said so, in nanoseconds of the machine's clock: in instructions. */
	struct histogram counted;
	/* What happened in both parts of all responses that are samples. */
	struct happened in_entries, in_handlers;
	/* Since when the processor has not been able to take an interrupt, and whether it is now. */
	struct happened closed;
	bool flag, global_flag, in_kernel, halted;
	/* How many instructions were executed when it became able to. */
	uint64_t opened;
	/* The last interrupts since the last response, and how many there were. */
	struct interrupt interrupts[MOST_INTERRUPTS];
	uint64_t interrupt_count;
	/* A program woke, and will say how late. */
	bool woken;
	struct happened woke;
	/* What was told of a number so far. */
	uint64_t number;
	/* Pieces of work. */
	bool working;
	struct happened begin, works[MOST_WORKS];
	uint64_t work_count;
};

void spans_init(struct spans *spans, uint64_t skip);

/* User code, or kernel code, runs from here on. The host's only. */
void spans_mode(struct spans *spans, const struct machine *machine, bool kernel);
/* An event of the host is about to be charged. */
void spans_before(struct spans *spans, const struct machine *machine, enum event event);
/*
 * The kernel's first instruction for an interrupt is about to be executed: `taken_at` as
 * `spans_taken` said before its delivery was charged.
 */
struct happened spans_taken(const struct spans *spans, const struct machine *machine);
void spans_entered(struct spans *spans, const struct machine *machine, const struct happened *taken_at);
/* A bit of a number; and the whole number, which ends with that. */
void spans_bit(struct spans *spans, enum event event);
uint64_t spans_number(struct spans *spans);
/* A marker. */
void spans_marker(struct spans *spans, const struct machine *machine, enum event marker);

/* Writes what was seen, as lines of a measuring program. */
void spans_tell(const struct spans *spans, FILE *output);

#endif
