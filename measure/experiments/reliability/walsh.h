/*
 * Walsh correlation of a square wave with a system's answer: the same arithmetic as
 * measure/portable/data/src/walsh.rs, which explains it.
 *
 * The system toggles its output at every rising edge of its input; edges come every `period`.
 * During the wave, toggles are counted by their place in it; afterwards walsh_correlation() returns
 * the integral of the output times the delayed wave. Times are in ns, or in half nanoseconds where
 * a comment says so.
 */
#ifndef MEASURE_WALSH_H
#define MEASURE_WALSH_H

#define WALSH_PLACES 8192

struct walsh {
	long long period;
	/* Width of a place in ns, as a power of two. */
	int width;
	/* The output, 1 or -1. */
	int output;
	/* For each place, toggles from 1 to -1 minus those from -1 to 1. */
	int places[WALSH_PLACES];
};

static inline void walsh_begin(struct walsh *walsh, long long period)
{
	int i;

	walsh->period = period;
	walsh->width = 0;
	while ((2 * period) >> walsh->width >= WALSH_PLACES)
		walsh->width++;
	walsh->output = -1;
	for (i = 0; i < WALSH_PLACES; i++)
		walsh->places[i] = 0;
}

static inline void walsh_toggle(struct walsh *walsh, long long time)
{
	walsh->places[time % (2 * walsh->period) >> walsh->width] += walsh->output;
	walsh->output = -walsh->output;
}

/* The integral of the wave from 0 on: a triangle. All in half nanoseconds. */
static inline long long walsh_triangle(const struct walsh *walsh, long long time, long long late)
{
	long long period = 2 * walsh->period, wave = 2 * period;
	long long place = (time % wave + wave - late % wave) % wave;

	return place < period ? place : wave - place;
}

/* The correlation over all toggles, after an even number of periods; in half ns, as is `late`. */
static inline long long walsh_correlation(const struct walsh *walsh, long long late)
{
	long long sum = walsh->output == 1 ? 2 * walsh_triangle(walsh, 0, late) : 0;
	long long i;

	for (i = 0; i < WALSH_PLACES; i++) {
		/* The middle of the place. */
		long long time = (2 * i << walsh->width) + (1LL << walsh->width) - 1;

		if (walsh->places[i])
			sum += walsh->places[i] * 2 * walsh_triangle(walsh, time, late);
	}
	return sum;
}

#endif
