/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread in primary mode that wakes up periodically and looks how late it is. It hands over what
 * it saw in each second, without leaving primary mode.
 */
#ifndef SAMPLING_H
#define SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "histogram.h"

/* What was seen in some time, in nanoseconds. */
struct samples {
	unsigned long count;
	unsigned long overruns;
	int64_t shortest;
	int64_t longest;
	int64_t sum;
};

/* How it is done. */
struct sampling {
	int64_t period;
	int priority;
	int cpu;
	/* How many seconds are looked at; 0: all until the end. */
	long seconds;
	/* End it when the thread goes to Linux. */
	bool breaks;
	/* Of all samples; NULL: none. */
	struct histogram *histogram;
};

/* Takes the options -p, -P and -c; returns false if it is another one. */
bool sampling_takes(struct sampling *sampling, int option, const char *value);
/* Starts the thread, and waits for its first second, which does not count. */
void sampling_begin(const struct sampling *sampling);
/*
 * Waits for the next second. Returns false if there is none: the program was interrupted, or the
 * thread went to Linux and that was to end it.
 */
bool sampling_next(struct samples *samples);
/* How often the thread went to Linux since its first second. */
unsigned long sampling_switches(void);
/* What took the thread to Linux, if that is to end the test; else NULL. */
const char *sampling_broken(void);
/* Ends the thread; the samples are those of a last second that is not complete. */
void sampling_end(struct samples *rest);
/* Shows what the thread did until its end. */
void sampling_tell(void);

void samples_merge(struct samples *into, const struct samples *from);
double samples_average(const struct samples *samples);

#endif
