/*
 * Figures of the real-time interface: a series of samples, printed as `figure NAME VALUE UNIT`. The
 * value is the mean, rounded up. There are few lines, so no pause between them is needed.
 */
#ifndef MEASURE_FIGURE_H
#define MEASURE_FIGURE_H

#include "../../include/measure/series.h"
#include "../../include/measure/thread.h"

static inline void figure_tell(const struct series *series, const char *name)
{
	unsigned long long mean;

	if (!series->count)
		return;
	mean = (series->sum + series->count - 1) / series->count;
	rtl_printf("figure %s %llu ns\n", name, mean);
	rtl_printf("figure %s_min %llu ns\n", name, series->least);
	rtl_printf("figure %s_max %llu ns\n", name, series->most);
}

#endif
