/*
 * Distribution of a series of samples: exact below 4,096, in buckets less than 1 % wide above.
 */
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

/* Values that need more than 40 bits are counted with the largest that do not. */
void histogram_add(struct histogram *histogram, uint64_t value);

/* The lowest value of the bucket that holds this share of the samples, in hundredths. */
uint64_t histogram_percentile(const struct histogram *histogram, uint64_t hundredths);

/*
 * Writes the lines of a measuring program, if there are samples: figures and all buckets that are
 * not empty.
 */
void histogram_tell(const struct histogram *histogram, FILE *output, const char *name, const char *unit);

#endif
