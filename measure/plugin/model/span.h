/*
 * Charges between markers.
 *
 * The response to an interrupt has two parts: `entry` from the interrupt to the kernel's first
 * instruction, `handler` from there to the first instruction of the response; `total` is both. When
 * exactly the interrupt came is not known; it is known at which latest instant the processor would
 * have taken it at once, so it was not there before that. `entry` is therefore the longest that it
 * can have waited.
 *
 * A response is to the last interrupt unless the program says more. A program that reports how late
 * it is was woken by the first interrupt since its deadline; a system that is slow to respond may
 * have taken others meanwhile.
 */
#ifndef MODEL_SPAN_H
#define MODEL_SPAN_H

#include "histogram.h"
#include "modelled_machine.h"

enum { MOST_WORKS = 4096, MOST_INTERRUPTS = 64 };

/* A series of samples, in nanoseconds and in cycles. */
struct series {
	struct histogram time, cycles;
};

/* What is counted. */
enum count {
	INSTRUCTIONS, L1I_MISSES, L1D_MISSES, L2_MISSES, L3_MISSES, WALKS, WRITE_BACKS, DEVICE_ACCESSES, SPACE_LOADS,
	/* In hundredths of a cycle: for events, and for everything. */
	FOR_EVENTS, CHARGED,
	COUNTS
};

/* What happened so far, or within a span. */
struct happened {
	uint64_t counts[COUNTS];
};

/* An interrupt: when it could have been taken at once, and when the kernel was entered for it. */
struct interrupt {
	struct happened taken, entered;
};

struct spans {
	/*
	 * The number of first responses and pieces of work that are not samples; and the numbers
	 * so far.
	 */
	uint64_t skip, responses, pieces;
	struct series entry, handler, total, work;
	/* Reported lateness, in nanoseconds of the machine's clock, that is, in instructions. */
	struct histogram counted;
	/* Totals of both parts over all responses that are samples. */
	struct happened in_entries, in_handlers;
	/* Since when the processor cannot take interrupts, and whether it can now. */
	struct happened closed;
	bool flag, global_flag, in_kernel, halted;
	/* Number of executed instructions when interrupts became possible. */
	uint64_t opened;
	/* The last interrupts since the last response, and their number. */
	struct interrupt interrupts[MOST_INTERRUPTS];
	uint64_t interrupt_count;
	/* A program woke, and will report how late. */
	bool woken;
	struct happened woke;
	/* The bits of a number so far. */
	uint64_t number;
	/* Pieces of work. */
	bool working;
	struct happened begin, works[MOST_WORKS];
	uint64_t work_count;
};

void spans_init(struct spans *spans, uint64_t skip);

/* User code, or kernel code, runs from here on. For the host only. */
void spans_mode(struct spans *spans, const struct machine *machine, bool kernel);
/* An event of the host is about to be charged. */
void spans_before(struct spans *spans, const struct machine *machine, enum event event);
/*
 * The kernel's first instruction for an interrupt is about to be executed. `taken_at` is the result
 * of `spans_taken` before the interrupt's delivery was charged.
 */
struct happened spans_taken(const struct spans *spans, const struct machine *machine);
void spans_entered(struct spans *spans, const struct machine *machine, const struct happened *taken_at);
/* Takes a bit of a number; returns the whole number, and starts the next one. */
void spans_bit(struct spans *spans, enum event event);
uint64_t spans_number(struct spans *spans);
/* Takes a marker. */
void spans_marker(struct spans *spans, const struct machine *machine, enum event marker);

/* Writes the results as lines of a measuring program. */
void spans_tell(const struct spans *spans, FILE *output);

#endif
