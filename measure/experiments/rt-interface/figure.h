/*
 * Figures of the real-time interface: a series of samples, told as `figure NAME VALUE UNIT`. The value is the mean, rounded up.
 */
#ifndef MEASURE_FIGURE_H
#define MEASURE_FIGURE_H

#include <rtl_printf.h>

struct series {
	unsigned long long sum, least, most, count;
};

/* The time-stamp counter; counted, 1 tick is 1 ns is one executed instruction. */
static inline unsigned long long ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static inline void series_add(struct series *series, unsigned long long value)
{
	if (!series->count || value < series->least)
		series->least = value;
	if (value > series->most)
		series->most = value;
	series->sum += value;
	series->count++;
}

static inline void series_tell(const struct series *series, const char *name)
{
	unsigned long long mean = (series->sum + series->count - 1) / (series->count ? series->count : 1);

	if (!series->count)
		return;
	rtl_printf("figure %s %llu ns\n", name, mean);
	rtl_printf("figure %s_min %llu ns\n", name, series->least);
	rtl_printf("figure %s_max %llu ns\n", name, series->most);
}

#endif
