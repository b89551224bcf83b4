/* SPDX-License-Identifier: GPL-2.0-only */
/* Histograms of latencies. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

struct histogram {
	unsigned int cells;
	/* Nanoseconds of a cell. */
	int64_t width;
	/* The last one also counts what is longer. */
	unsigned long *counts;
	/* Of all that was added, in nanoseconds. */
	unsigned long count;
	double sum;
	double squares;
};

void histogram_init(struct histogram *histogram, unsigned int cells, int64_t width);
void histogram_add(struct histogram *histogram, int64_t ns);
/* The rows HSD of the cells that are not empty. */
void histogram_show(const struct histogram *histogram, const char *name);
/* The row HSS: samples, average and standard deviation in microseconds. */
void histogram_show_statistics(const struct histogram *histogram, const char *name);
/* Lines `MICROSECONDS COUNT`, where a cell begins, from the first to the last that is not empty. */
void histogram_write(const struct histogram *histogram, FILE *file);

#endif
