// SPDX-License-Identifier: GPL-2.0-only
/* `latency`: how late a periodic thread in primary mode wakes up. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xenomai/init.h>

#include "common.h"
#include "histogram.h"
#include "plot.h"
#include "rows.h"
#include "sampling.h"

#define CELLS 200
#define CELL_NS 1000

static struct sampling sampling = { .period = 100 * MICROSECOND, .priority = 99 };
static struct rows rows = { .lines = ROWS_LINES };
static struct histogram shortest, all, longest;
static bool shows_histograms, shows_statistics;
static long cells = CELLS, cell_ns = CELL_NS;
static FILE *plot;

void application_usage(void)
{
	printf("usage: %s [OPTION]...\n", program_invocation_short_name);
	puts("How late a periodic thread in primary mode wakes up, in microseconds.\n"
	     "  -p US         its period: 100\n"
	     "  -P PRIORITY   its priority, 1 to 99: 99\n"
	     "  -c CPU        its processor: 0\n"
	     "  -T SECONDS    length of the test; 0, which is the default: until Ctrl-C\n"
	     "  -h            histograms: of each second's shortest, of all, of each second's longest latencies\n"
	     "  -s            statistics of these\n"
	     "  -g FILE       histogram of all latencies, for gnuplot\n"
	     "  -H CELLS      cells of a histogram: 200\n"
	     "  -B NS         nanoseconds of a cell: 1000\n"
	     "  -l LINES      rows between two headers: 21; 0: no headers\n"
	     "  -q            with -T: only the totals\n"
	     "  -b            ends, with status 1, as soon as the thread goes to Linux\n"
	     "  -t 0          a thread of a process; there are no other tests");
}

static void check_mode(const char *text)
{
	switch (number_of("-t", text, 0, 2)) {
	case 1:
		fail("-t 1: there are no threads of Linux's kernel in primary mode; -t 0 measures a thread of a process");
	case 2:
		fail("-t 2: no handler of a timer's interrupt runs in Linux's kernel in primary mode; "
		     "-t 0 measures a thread of a process");
	}
}

static void take(int option, const char *value)
{
	if (sampling_takes(&sampling, option, value))
		return;
	switch (option) {
	case 'T':
		rows.duration = number_of("-T", value, 0, 100000000);
		break;
	case 'h':
		shows_histograms = true;
		break;
	case 's':
		shows_statistics = true;
		break;
	case 'g':
		plot = plot_open(value);
		break;
	case 'H':
		cells = number_of("-H", value, 1, 10000000);
		break;
	case 'B':
		cell_ns = number_of("-B", value, 1, 1000000000);
		break;
	case 'l':
		rows.lines = number_of("-l", value, 0, 1000000);
		break;
	case 'q':
		rows.is_quiet = true;
		break;
	case 'b':
		sampling.breaks = true;
		break;
	case 't':
		check_mode(value);
		break;
	default:
		xenomai_help();
		exit(2);
	}
}

static void prepare(void)
{
	static char about[96];

	snprintf(about, sizeof(about), "periodic user-mode task, %lld us period, priority %d",
		 (long long)sampling.period / MICROSECOND, sampling.priority);
	rows.about = about;
	sampling.seconds = rows.duration;
	/* Without an end, nothing would ever be shown. */
	rows.is_quiet = rows.is_quiet && rows.duration;
	if (!shows_histograms && !shows_statistics && !plot)
		return;
	histogram_init(&shortest, cells, cell_ns);
	histogram_init(&all, cells, cell_ns);
	histogram_init(&longest, cells, cell_ns);
	rows.shortest = &shortest;
	rows.longest = &longest;
	sampling.histogram = &all;
}

static void show_histograms(void)
{
	if (shows_histograms) {
		histogram_show(&shortest, "min");
		histogram_show(&all, "avg");
		histogram_show(&longest, "max");
	}
	if (shows_statistics) {
		printf("HSH|--param|--samples|-average--|---stddev--\n");
		histogram_show_statistics(&shortest, "min");
		histogram_show_statistics(&all, "avg");
		histogram_show_statistics(&longest, "max");
	}
}

int main(int count, char **arguments)
{
	int option;

	while ((option = getopt(count, arguments, "p:P:c:T:hsg:H:B:l:qbt:")) != -1)
		take(option, optarg);
	if (optind < count)
		fail("%s: there are only options; --help shows them", arguments[optind]);
	need_primary();
	prepare();
	printf("== Sampling period: %lld us\n", (long long)sampling.period / MICROSECOND);
	printf("== Test mode: periodic user-mode task\n");
	printf("== All results in microseconds\n");
	printf("warming up...\n");
	fflush(stdout);
	sampling_begin(&sampling);
	rows_run(&rows);
	show_histograms();
	rows_end(&rows);
	if (plot)
		plot_close(plot, &sampling, &rows);
	rows_check();
	return 0;
}
