/*
 * Computations that use the caches in different ways. Each starts with the same data every time.
 * Together they use 232 KiB: the second-level cache of the smallest modelled machine, 256 KiB,
 * holds nearly all of it.
 */
#ifndef KERNELS_H
#define KERNELS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 64
#define SAMPLES 1024
#define NUMBERS 4096
#define WALK_BYTES (32 << 10)
#define CACHE_LINE 64
#define WALK_LINES (WALK_BYTES / CACHE_LINE)

/* Makes the compiler compute what is in memory, as if it were read. */
#define KEEP(address) __asm__ volatile("" : : "r"(address) : "memory")

struct complex {
	double real, imaginary;
};

static double left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];
static struct complex wave[SAMPLES], data[SAMPLES], roots[SAMPLES / 2];
static unsigned int numbers[NUMBERS], sorted[NUMBERS];
static unsigned short next_line[WALK_LINES];
static char walk_from[WALK_BYTES], walk_to[WALK_BYTES];

/* 96 KiB that are used repeatedly. */
static inline void multiply(void)
{
	double sum;
	int row, column, i;

	for (row = 0; row < SIDE; row++) {
		for (column = 0; column < SIDE; column++) {
			sum = 0;
			for (i = 0; i < SIDE; i++)
				sum += left[row][i] * right[i][column];
			product[row][column] = sum;
		}
	}
	KEEP(product);
}

/* Puts the samples into the transform's order: with the bits of their indices reversed. */
static inline void reverse(void)
{
	unsigned int from, to = 0, bit;

	for (from = 0; from < SAMPLES; from++) {
		data[to] = wave[from];
		for (bit = SAMPLES / 2; to & bit; bit /= 2)
			to ^= bit;
		to |= bit;
	}
}

static inline void butterfly(struct complex *low, struct complex *high, const struct complex *root)
{
	struct complex turned = {
		high->real * root->real - high->imaginary * root->imaginary,
		high->real * root->imaginary + high->imaginary * root->real,
	};

	high->real = low->real - turned.real;
	high->imaginary = low->imaginary - turned.imaginary;
	low->real += turned.real;
	low->imaginary += turned.imaginary;
}

/* Fourier transform: 40 KiB, in strides that double. */
static inline void transform(void)
{
	int half, block, i;

	reverse();
	for (half = 1; half < SAMPLES; half *= 2)
		for (block = 0; block < SAMPLES; block += 2 * half)
			for (i = 0; i < half; i++)
				butterfly(&data[block + i], &data[block + half + i], &roots[i * (SAMPLES / 2 / half)]);
	KEEP(data);
}

static int smaller(const void *first, const void *second)
{
	unsigned int one = *(const unsigned int *)first, other = *(const unsigned int *)second;

	return one < other ? -1 : one > other;
}

/* 32 KiB, and data-dependent branches. */
static inline void sort(void)
{
	memcpy(sorted, numbers, sizeof(sorted));
	qsort(sorted, NUMBERS, sizeof(sorted[0]), smaller);
	KEEP(sorted);
}

/* 64 KiB, each line once, in an order that no prefetcher follows. */
static inline void walk(void)
{
	unsigned int i, line = 0;

	for (i = 0; i < WALK_LINES; i++) {
		memcpy(walk_to + line * CACHE_LINE, walk_from + line * CACHE_LINE, CACHE_LINE);
		line = next_line[line];
	}
	KEEP(walk_to);
}

static inline void prepare_kernels(void)
{
	int i;

	for (i = 0; i < SIDE * SIDE; i++) {
		left[i / SIDE][i % SIDE] = i % 7;
		right[i / SIDE][i % SIDE] = i % 5;
	}
	for (i = 0; i < SAMPLES; i++)
		wave[i].real = i % 17;
	for (i = 0; i < SAMPLES / 2; i++) {
		roots[i].real = cos(-2 * M_PI * i / SAMPLES);
		roots[i].imaginary = sin(-2 * M_PI * i / SAMPLES);
	}
	for (i = 0; i < NUMBERS; i++)
		numbers[i] = i * 2654435761U;
	for (i = 0; i < WALK_LINES; i++)
		next_line[i] = (i * 5 + 3) % WALK_LINES;
}

#endif
