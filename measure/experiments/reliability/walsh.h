/*
 * Walsh correlation of a square wave with what a system made of it: the same arithmetic as measure/data/src/walsh.rs, in whole nanoseconds.
 *
 * The system toggles its output at every rising edge of its input, which come every `period`. The output of an ideal one is the fundamental wave w: 1 for a
 * period, -1 for the next. Between two toggles the output x is constant, so the integral of x w is a sum of differences of the integral of w.
 */
#ifndef MEASURE_WALSH_H
#define MEASURE_WALSH_H

struct walsh {
	long long period;
	/* The output, 1 or -1, and since when. */
	long long output, since;
	/* Integrals of the output times w, and times w a half period later. */
	long long real, imaginary;
};

/* The integral of w from 0 on: a triangle. */
static inline long long walsh_triangle(long long period, long long time)
{
	long long place = (time % (2 * period) + 2 * period) % (2 * period);

	return place < period ? place : 2 * period - place;
}

/* The output stays as it is up to a time. */
static inline void walsh_until(struct walsh *walsh, long long time)
{
	long long period = walsh->period, later = period / 2;

	walsh->real += walsh->output * (walsh_triangle(period, time) - walsh_triangle(period, walsh->since));
	walsh->imaginary += walsh->output *
			    (walsh_triangle(period, time - later) - walsh_triangle(period, walsh->since - later));
	walsh->since = time;
}

static inline void walsh_begin(struct walsh *walsh, long long period)
{
	*walsh = (struct walsh){ .period = period, .output = -1 };
}

static inline void walsh_toggle(struct walsh *walsh, long long time)
{
	walsh_until(walsh, time);
	walsh->output = -walsh->output;
}

#endif
