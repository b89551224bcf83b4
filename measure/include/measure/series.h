/* Samples of which only minimum, maximum, sum and number are kept. */
#ifndef MEASURE_SERIES_H
#define MEASURE_SERIES_H

#include "line.h"

struct series {
	unsigned long long sum, least, most, count;
};

static inline void series_add(struct series *series, unsigned long long value)
{
	if (!series->count || value < series->least)
		series->least = value;
	if (value > series->most)
		series->most = value;
	series->sum += value;
	series->count++;
}

/* The mean in tenths, rounded. */
static inline unsigned long long series_mean(const struct series *series)
{
	return (series->sum * 10 + series->count / 2) / series->count;
}

static inline void series_tell(const struct series *series, const char *name, const char *unit)
{
	unsigned long long mean;

	line_say("figure %s_samples %llu 1", name, series->count);
	if (!series->count)
		return;
	mean = series_mean(series);
	line_say("figure %s_min %llu %s", name, series->least, unit);
	line_say("figure %s_avg %llu.%llu %s", name, mean / 10, mean % 10, unit);
	line_say("figure %s_max %llu %s", name, series->most, unit);
}

#endif
