#include "histogram.h"

#include <inttypes.h>

/* Longest line of a measuring program, and room for one bucket. */
enum { LONGEST_LINE = 200, LONGEST_BUCKET = 48 };

/* Buckets are 2^shift wide for values of that size. */
static unsigned int shift_of(uint64_t value)
{
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(value | 1);

	return bits <= HISTOGRAM_EXACT_BITS ? 0 : bits - 1 - HISTOGRAM_STEP_BITS;
}

static size_t bucket_of(uint64_t value)
{
	unsigned int shift = shift_of(value), first = HISTOGRAM_EXACT_BITS - HISTOGRAM_STEP_BITS;

	if (!shift)
		return value;
	return (1u << HISTOGRAM_EXACT_BITS) + ((size_t)(shift - first) << HISTOGRAM_STEP_BITS) +
	       ((value >> shift) - (1u << HISTOGRAM_STEP_BITS));
}

static uint64_t low_of(size_t bucket, uint64_t *width)
{
	size_t above = bucket - (1u << HISTOGRAM_EXACT_BITS);
	unsigned int shift;

	*width = 1;
	if (bucket < 1u << HISTOGRAM_EXACT_BITS)
		return bucket;
	shift = (unsigned int)(above >> HISTOGRAM_STEP_BITS) + HISTOGRAM_EXACT_BITS - HISTOGRAM_STEP_BITS;
	*width = 1ull << shift;
	return ((above & ((1u << HISTOGRAM_STEP_BITS) - 1)) + (1u << HISTOGRAM_STEP_BITS)) << shift;
}

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
	uint64_t wanted = (histogram->samples * hundredths + 99) / 100, seen = 0, width;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += histogram->count[i];
		if (seen >= wanted && seen) {
			uint64_t low = low_of(i, &width);

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
	uint64_t width, low = low_of(bucket, &width);

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
