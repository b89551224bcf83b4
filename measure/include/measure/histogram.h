/*
 * Samples in buckets: 1 wide below 4,096, and above it 64 to each doubling, so that they are 0.8 to 1.6 % wide.
 */
#ifndef MEASURE_HISTOGRAM_H
#define MEASURE_HISTOGRAM_H

#include "line.h"
#include "series.h"

#define HISTOGRAM_EXACT_BITS 12
#define HISTOGRAM_PART_BITS 6
/* Samples from 2 to this power on (17 s of nanoseconds) are only in the figures, and the run is invalid. */
#define HISTOGRAM_BITS 34

#define HISTOGRAM_EXACT (1 << HISTOGRAM_EXACT_BITS)
#define HISTOGRAM_PARTS (1 << HISTOGRAM_PART_BITS)
#define HISTOGRAM_BUCKETS (HISTOGRAM_EXACT + (HISTOGRAM_BITS - HISTOGRAM_EXACT_BITS) * HISTOGRAM_PARTS)

struct histogram {
	struct series series;
	unsigned int counts[HISTOGRAM_BUCKETS];
};

/* log2 of the width of the bucket that holds a value. */
static inline int histogram_shift(unsigned long long value)
{
	int bits = 63 - __builtin_clzll(value | 1);

	return bits < HISTOGRAM_EXACT_BITS ? 0 : bits - HISTOGRAM_PART_BITS;
}

/* The number of the bucket that holds a value; buckets are numbered by what they hold. */
static inline unsigned long long histogram_bucket(unsigned long long value)
{
	int shift = histogram_shift(value);

	if (!shift)
		return value;
	/* The doubling, and the place in it: value >> shift is between PARTS and 2 * PARTS. */
	return HISTOGRAM_EXACT + (shift + HISTOGRAM_PART_BITS - HISTOGRAM_EXACT_BITS) * HISTOGRAM_PARTS + (value >> shift) -
	       HISTOGRAM_PARTS;
}

/* The least value that a bucket holds. */
static inline unsigned long long histogram_low(unsigned int bucket)
{
	unsigned int above = bucket - HISTOGRAM_EXACT;
	unsigned long long place = HISTOGRAM_PARTS + above % HISTOGRAM_PARTS;

	if (bucket < HISTOGRAM_EXACT)
		return bucket;
	return place << (above / HISTOGRAM_PARTS + HISTOGRAM_EXACT_BITS - HISTOGRAM_PART_BITS);
}

/* Work: the same for all samples. */
static inline void histogram_add(struct histogram *histogram, unsigned long long value)
{
	unsigned long long bucket = histogram_bucket(value);

	series_add(&histogram->series, value);
	if (bucket < HISTOGRAM_BUCKETS)
		histogram->counts[bucket]++;
}

/* The greatest value of the bucket in which the given part of all samples, in per cent, is reached. */
static inline unsigned long long histogram_quantile(const struct histogram *histogram, unsigned int percent)
{
	unsigned long long below = 0, wanted = (histogram->series.count * percent + 99) / 100;
	unsigned int bucket;

	for (bucket = 0; bucket < HISTOGRAM_BUCKETS - 1; bucket++) {
		below += histogram->counts[bucket];
		if (below >= wanted)
			break;
	}
	return histogram_low(bucket) + (1ULL << histogram_shift(histogram_low(bucket))) - 1;
}

static inline void histogram_tell_buckets(const struct histogram *histogram, const char *name, const char *unit)
{
	struct line line;
	char word[48];
	unsigned int bucket;
	int shift;

	line_begin(&line, "histogram", name, unit);
	for (bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		if (!histogram->counts[bucket])
			continue;
		shift = histogram_shift(histogram_low(bucket));
		if (shift)
			snprintf(word, sizeof(word), "%llu+%llu:%u", histogram_low(bucket), 1ULL << shift, histogram->counts[bucket]);
		else
			snprintf(word, sizeof(word), "%u:%u", bucket, histogram->counts[bucket]);
		line_word(&line, word);
	}
	line_flush(&line);
}

static inline void histogram_tell(const struct histogram *histogram, const char *name, const char *unit)
{
	unsigned long long quantile = histogram_quantile(histogram, 99);

	series_tell(&histogram->series, name, unit);
	if (!histogram->series.count)
		return;
	if (quantile > histogram->series.most)
		quantile = histogram->series.most;
	line_say("figure %s_p99 %llu %s", name, quantile, unit);
	if (histogram->series.most >> HISTOGRAM_BITS)
		line_invalid("%s has samples beyond its histogram", name);
	histogram_tell_buckets(histogram, name, unit);
}

#endif
