// SPDX-License-Identifier: GPL-2.0-only
#include "rows.h"

#include <stdio.h>

#include "common.h"

static double us(double ns)
{
	return ns / MICROSECOND;
}

static void show(const struct rows *rows, const struct samples *second)
{
	if (rows->lines && (rows->elapsed - 1) % rows->lines == 0) {
		printf("RTT|  %s  (%s)\n", clock_time(rows->elapsed).text, rows->about);
		printf("RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst\n");
	}
	printf("RTD|%11.3f|%11.3f|%11.3f|%8lu|%6lu|%11.3f|%11.3f\n", us(second->shortest), us(samples_average(second)),
	       us(second->longest), rows->all.overruns, rows->switches, us(rows->all.shortest), us(rows->all.longest));
	fflush(stdout);
}

static bool is_over(const struct rows *rows)
{
	return (rows->duration && rows->elapsed >= rows->duration) || sampling_broken();
}

void rows_run(struct rows *rows)
{
	struct samples second, rest;

	while (!is_over(rows) && sampling_next(&second)) {
		rows->elapsed++;
		if (!rows->all.count || second.longest > rows->all.longest)
			rows->peak = rows->elapsed;
		samples_merge(&rows->all, &second);
		rows->switches = sampling_switches();
		if (rows->shortest)
			histogram_add(rows->shortest, second.shortest);
		if (rows->longest)
			histogram_add(rows->longest, second.longest);
		if (!rows->is_quiet)
			show(rows, &second);
	}
	rows->switches = sampling_switches();
	sampling_end(&rest);
	samples_merge(&rows->all, &rest);
}

void rows_end(const struct rows *rows)
{
	printf("---|-----------|-----------|-----------|--------|------|-------------------------\n");
	printf("RTS|%11.3f|%11.3f|%11.3f|%8lu|%6lu|    %s/%s\n", us(rows->all.shortest), us(samples_average(&rows->all)),
	       us(rows->all.longest), rows->all.overruns, rows->switches, clock_time(rows->elapsed).text,
	       clock_time(rows->duration).text);
	fflush(stdout);
}

void rows_check(void)
{
	if (sampling_broken())
		fail("the thread went to Linux: %s; without -b, such switches are only counted", sampling_broken());
}
