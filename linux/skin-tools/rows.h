/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows that `latency` and `latmus` have in common. */
#ifndef ROWS_H
#define ROWS_H

#include "sampling.h"

/* Lines of data between two headers. */
#define ROWS_LINES 21

struct rows {
	/* What stands in brackets in the header's first line. */
	const char *about;
	/* 0: no headers. */
	int lines;
	/* No rows of seconds. */
	bool is_quiet;
	/* The test's length; 0: until it is interrupted. */
	long duration;
	/* Everything until now. */
	struct samples all;
	unsigned long switches;
	long elapsed;
	/* The second with the longest latency. */
	long peak;
	/* The shortest and the longest of each second; NULL: they are not kept. */
	struct histogram *shortest;
	struct histogram *longest;
};

/* Shows each second until the end of the test. */
void rows_run(struct rows *rows);
/* Shows the totals. */
void rows_end(const struct rows *rows);
/* Fails if the test was to end when the thread goes to Linux, and has. */
void rows_check(void);

#endif
