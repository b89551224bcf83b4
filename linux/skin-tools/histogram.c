// SPDX-License-Identifier: GPL-2.0-only
#include "histogram.h"

#include <math.h>
#include <stdlib.h>

#include "common.h"

void histogram_init(struct histogram *histogram, unsigned int cells, int64_t width)
{
	histogram->cells = cells;
	histogram->width = width;
	histogram->counts = calloc(cells, sizeof(*histogram->counts));
	if (!histogram->counts)
		fail("-H %u: there is no memory for a histogram of so many cells; make it smaller", cells);
}

void histogram_add(struct histogram *histogram, int64_t ns)
{
	int64_t cell = ns < 0 ? 0 : ns / histogram->width;

	histogram->counts[cell < histogram->cells ? cell : histogram->cells - 1]++;
	histogram->count++;
	histogram->sum += ns;
	histogram->squares += (double)ns * ns;
}

void histogram_show(const struct histogram *histogram, const char *name)
{
	unsigned int i;

	printf("---|--param|----range-|--samples\n");
	for (i = 0; i < histogram->cells; i++)
		if (histogram->counts[i])
			printf("HSD|%7s|%3u -%3u  |%9lu\n", name, i, i + 1, histogram->counts[i]);
}

void histogram_show_statistics(const struct histogram *histogram, const char *name)
{
	double count = histogram->count, average = count ? histogram->sum / count : 0, variance = 0;

	if (count > 1)
		variance = (histogram->squares - count * average * average) / (count - 1);
	printf("HSS|%7s|%9lu|%10.3f|%11.3f\n", name, histogram->count, average / MICROSECOND,
	       variance > 0 ? sqrt(variance) / MICROSECOND : 0);
}

void histogram_write(const struct histogram *histogram, FILE *file)
{
	unsigned int first = 0, end = histogram->cells, i;

	while (first < end && !histogram->counts[first])
		first++;
	while (end > first && !histogram->counts[end - 1])
		end--;
	for (i = first; i < end; i++)
		fprintf(file, "%g %lu\n", (double)(i * histogram->width) / MICROSECOND, histogram->counts[i]);
}
