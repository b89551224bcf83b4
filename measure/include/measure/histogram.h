/* Samples in buckets: 1 wide below 4,096, and 64 per doubling above: 0.8 to 1.6 % wide. */
#ifndef MEASURE_HISTOGRAM_H
#define MEASURE_HISTOGRAM_H

#define BUCKET_PART_BITS 6

#include "bucket.h"
#include "line.h"
#include "series.h"

/* Samples from 2 to this power on (17 s) count only in the figures, and make the run invalid. */
#define HISTOGRAM_BITS 34
#define HISTOGRAM_BUCKETS BUCKETS(HISTOGRAM_BITS)

struct histogram {
	struct series series;
	unsigned int counts[HISTOGRAM_BUCKETS];
};

/* Adds a sample. Work: the same for every sample. */
static inline void histogram_add(struct histogram *histogram, unsigned long long value)
{
	unsigned long long bucket = bucket_of(value);

	series_add(&histogram->series, value);
	if (bucket < HISTOGRAM_BUCKETS)
		histogram->counts[bucket]++;
}

/* The greatest value of the bucket in which the given percentage of all samples is reached. */
static inline unsigned long long histogram_quantile(const struct histogram *histogram, unsigned int percent)
{
	unsigned long long below = 0, wanted = (histogram->series.count * percent + 99) / 100;
	unsigned int bucket;

	for (bucket = 0; bucket < HISTOGRAM_BUCKETS - 1; bucket++) {
		below += histogram->counts[bucket];
		if (below >= wanted)
			break;
	}
	return bucket_low(bucket) + bucket_width(bucket) - 1;
}

static inline void histogram_tell_buckets(const struct histogram *histogram, const char *name, const char *unit)
{
	struct line line;
	char word[48];
	unsigned long long width;
	unsigned int bucket;

	line_begin(&line, "histogram", name, unit);
	for (bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		if (!histogram->counts[bucket])
			continue;
		width = bucket_width(bucket);
		if (width > 1)
			snprintf(word, sizeof(word), "%llu+%llu:%u", bucket_low(bucket), width, histogram->counts[bucket]);
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
