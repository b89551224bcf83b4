/* Distribution of a series of samples: exact below 4,096, in buckets less than 1 % wide above. */
#ifndef MODEL_HISTOGRAM_H
#define MODEL_HISTOGRAM_H

#define BUCKET_PART_BITS 7

#include <stdint.h>
#include <stdio.h>

#include "../../include/measure/bucket.h"

enum { HISTOGRAM_MOST_BITS = 40, HISTOGRAM_BUCKETS = BUCKETS(HISTOGRAM_MOST_BITS) };

struct histogram {
	uint64_t samples, sum, least, most;
	uint64_t count[HISTOGRAM_BUCKETS];
};

/* Values of more than 40 bits are counted as the largest value of 40 bits. */
void histogram_add(struct histogram *histogram, uint64_t value);

/* The lowest value of the bucket that reaches this percentage of the samples, in hundredths. */
uint64_t histogram_percentile(const struct histogram *histogram, uint64_t hundredths);

/* If there are samples, writes a measuring program's lines: figures, and non-empty buckets. */
void histogram_tell(const struct histogram *histogram, FILE *output, const char *name, const char *unit);

#endif
