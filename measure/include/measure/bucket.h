/*
 * Buckets of samples, for tasks and for the model of caches: 1 wide below 4,096; above, 2 to the
 * power of BUCKET_PART_BITS buckets per doubling. The including file defines BUCKET_PART_BITS.
 * Buckets are numbered in the order of their values.
 */
#ifndef MEASURE_BUCKET_H
#define MEASURE_BUCKET_H

#define BUCKET_EXACT_BITS 12
#define BUCKET_EXACT (1 << BUCKET_EXACT_BITS)
#define BUCKET_PARTS (1 << BUCKET_PART_BITS)
/* Number of buckets for samples of that many bits. */
#define BUCKETS(bits) (BUCKET_EXACT + ((bits) - BUCKET_EXACT_BITS) * BUCKET_PARTS)

/* log2 of the width of the bucket that contains a value. */
static inline int bucket_shift(unsigned long long value)
{
	int bits = 63 - __builtin_clzll(value | 1);

	return bits < BUCKET_EXACT_BITS ? 0 : bits - BUCKET_PART_BITS;
}

/* The number of the bucket that contains a value. */
static inline unsigned long long bucket_of(unsigned long long value)
{
	int shift = bucket_shift(value);

	if (!shift)
		return value;
	/* The doubling, and the position in it: value >> shift is between PARTS and 2 * PARTS. */
	return BUCKET_EXACT + (shift + BUCKET_PART_BITS - BUCKET_EXACT_BITS) * BUCKET_PARTS +
	       (value >> shift) - BUCKET_PARTS;
}

/* The smallest value in a bucket. */
static inline unsigned long long bucket_low(unsigned int bucket)
{
	unsigned int above = bucket - BUCKET_EXACT;
	unsigned long long place = BUCKET_PARTS + above % BUCKET_PARTS;

	if (bucket < BUCKET_EXACT)
		return bucket;
	return place << (above / BUCKET_PARTS + BUCKET_EXACT_BITS - BUCKET_PART_BITS);
}

/* The number of values in a bucket. */
static inline unsigned long long bucket_width(unsigned int bucket)
{
	return 1ULL << bucket_shift(bucket_low(bucket));
}

#endif
