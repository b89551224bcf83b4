// SPDX-License-Identifier: GPL-2.0-only
#include "plot.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <xenomai/init.h>

#include "common.h"

static time_t started;

FILE *plot_open(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		fail("-g %s: %s; name a file that can be written", path, strerror(errno));
	started = time(NULL);
	return file;
}

void plot_close(FILE *file, const struct sampling *sampling, const struct rows *rows)
{
	const struct samples *all = &rows->all;
	struct utsname machine;
	char date[32];

	uname(&machine);
	fprintf(file, "# test started on: %s", ctime_r(&started, date));
	fprintf(file, "# %s version %s\n", machine.sysname, machine.release);
	fprintf(file, "# %s\n", xenomai_version_string);
	fprintf(file, "# sampling period: %lld microseconds\n", (long long)sampling->period / MICROSECOND);
	fprintf(file, "# context: user\n");
	fprintf(file, "# thread priority: %d\n", sampling->priority);
	fprintf(file, "# thread affinity: CPU%d\n", sampling->cpu);
	fprintf(file, "# duration (hhmmss): %s\n", clock_time(rows->elapsed).text);
	fprintf(file, "# peak (hhmmss): %s\n", clock_time(rows->peak).text);
	if (all->overruns)
		fprintf(file, "# OVERRUNS: %lu\n", all->overruns);
	fprintf(file, "# min latency: %.3f\n", (double)all->shortest / MICROSECOND);
	fprintf(file, "# avg latency: %.3f\n", samples_average(all) / MICROSECOND);
	fprintf(file, "# max latency: %.3f\n", (double)all->longest / MICROSECOND);
	fprintf(file, "# sample count: %lu\n", all->count);
	histogram_write(sampling->histogram, file);
	if (ferror(file) | fclose(file))
		fail("-g: the histogram was not written: %s; free some space", strerror(errno));
}
