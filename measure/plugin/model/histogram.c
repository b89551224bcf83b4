#include "histogram.h"

#include <inttypes.h>

/* The longest line of a measuring program, and room for one bucket. */
enum { LONGEST_LINE = 200, LONGEST_BUCKET = 48 };

void histogram_add(struct histogram *histogram, uint64_t value)
{
	if (value >> HISTOGRAM_MOST_BITS)
		value = (1ull << HISTOGRAM_MOST_BITS) - 1;
	if (!histogram->samples || value < histogram->least)
		histogram->least = value;
	if (value > histogram->most)
		histogram->most = value;
	histogram->samples++;
	histogram->sum += value;
	histogram->count[bucket_of(value)]++;
}

uint64_t histogram_percentile(const struct histogram *histogram, uint64_t hundredths)
{
	uint64_t wanted = (histogram->samples * hundredths + 99) / 100, seen = 0;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += histogram->count[i];
		if (seen >= wanted && seen) {
			uint64_t low = bucket_low(i);

			return low < histogram->least ? histogram->least : low;
		}
	}
	return histogram->most;
}

static void tell_figures(const struct histogram *histogram, FILE *output, const char *name, const char *unit)
{
	double average = (double)histogram->sum / (double)histogram->samples;

	fprintf(output, "figure %s_min %" PRIu64 " %s\n", name, histogram->least, unit);
	fprintf(output, "figure %s_avg %.1f %s\n", name, average, unit);
	fprintf(output, "figure %s_p99 %" PRIu64 " %s\n", name, histogram_percentile(histogram, 99), unit);
	fprintf(output, "figure %s_max %" PRIu64 " %s\n", name, histogram->most, unit);
	fprintf(output, "figure %s_samples %" PRIu64 " 1\n", name, histogram->samples);
}

static int tell_bucket(const struct histogram *histogram, FILE *output, size_t bucket)
{
	uint64_t width = bucket_width(bucket), low = bucket_low(bucket);

	if (width == 1)
		return fprintf(output, " %" PRIu64 ":%" PRIu64, low, histogram->count[bucket]);
	return fprintf(output, " %" PRIu64 "+%" PRIu64 ":%" PRIu64, low, width, histogram->count[bucket]);
}

void histogram_tell(const struct histogram *histogram, FILE *output, const char *name, const char *unit)
{
	int column = 0;

	if (!histogram->samples)
		return;
	tell_figures(histogram, output, name, unit);
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!histogram->count[i])
			continue;
		if (column > LONGEST_LINE - LONGEST_BUCKET) {
			fputc('\n', output);
			column = 0;
		}
		if (!column)
			column = fprintf(output, "histogram %s %s", name, unit);
		column += tell_bucket(histogram, output, i);
	}
	fputc('\n', output);
}
