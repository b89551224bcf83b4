// SPDX-License-Identifier: GPL-2.0-only
/* `latmus`: what `latency` measures, with the options of EVL's tool. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xenomai/init.h>

#include "common.h"
#include "histogram.h"
#include "plot.h"
#include "rows.h"
#include "sampling.h"

#define CELLS 1000

static struct sampling sampling = { .period = 1000 * MICROSECOND, .priority = 98 };
static struct rows rows = { .lines = ROWS_LINES };
static struct histogram all;
static long verbosity = 1, cells = CELLS;
static FILE *plot;

void application_usage(void)
{
	printf("usage: %s [OPTION]...\n", program_invocation_short_name);
	puts("How late a periodic thread in primary mode wakes up, in microseconds.\n"
	     "  -m, --measure             measures, which is the default\n"
	     "  -u, --user                the thread of a process: the only context\n"
	     "  -p, --period=US           the thread's period: 1000\n"
	     "  -P, --priority=PRIORITY   its priority, 1 to 99: 98\n"
	     "  -c, --cpu=CPU             its processor: 0\n"
	     "  -T, --timeout=LENGTH      length of the test, in seconds or with one of the suffixes s, m, h, d;\n"
	     "                            0, which is the default: until Ctrl-C\n"
	     "  -g, --plot=FILE           histogram of all latencies, for gnuplot\n"
	     "  -H, --histogram=CELLS     cells of it, a microsecond each: 1000\n"
	     "  -l, --lines=LINES         rows between two headers: 21; 0: no headers\n"
	     "  -v, --verbose[=LEVEL]     0: only the totals; 1: rows, which is the default; 2: also what the thread did\n"
	     "  -q                        only the totals\n"
	     "  -a, --mode-abort          ends, with status 1, as soon as the thread goes to Linux");
}

static const struct option options[] = {
	{ "measure", no_argument, NULL, 'm' },
	{ "user", no_argument, NULL, 'u' },
	{ "period", required_argument, NULL, 'p' },
	{ "priority", required_argument, NULL, 'P' },
	{ "cpu", required_argument, NULL, 'c' },
	{ "timeout", required_argument, NULL, 'T' },
	{ "plot", required_argument, NULL, 'g' },
	{ "histogram", required_argument, NULL, 'H' },
	{ "lines", required_argument, NULL, 'l' },
	{ "verbose", optional_argument, NULL, 'v' },
	{ "mode-abort", no_argument, NULL, 'a' },
	{ "kernel", no_argument, NULL, 'k' },
	{ "irq", no_argument, NULL, 'i' },
	{ "sirq", no_argument, NULL, 's' },
	{ "tune", no_argument, NULL, 't' },
	{ "reset", no_argument, NULL, 'r' },
	{ "oob-gpio", required_argument, NULL, 'Z' },
	{ "inband-gpio", required_argument, NULL, 'z' },
	{ NULL, 0, NULL, 0 },
};

static long seconds_of(const char *text)
{
	static const char suffixes[] = "smhd";
	static const long lengths[] = { 1, 60, 3600, 86400 };
	size_t length = strlen(text);
	const char *suffix = length ? strchr(suffixes, text[length - 1]) : NULL;
	char number[16];

	if (!suffix || length > sizeof(number))
		return number_of("-T", text, 0, 100000000);
	memcpy(number, text, length - 1);
	number[length - 1] = '\0';
	return number_of("-T", number, 0, 100000000 / lengths[suffix - suffixes]) * lengths[suffix - suffixes];
}

static void refuse(int option)
{
	switch (option) {
	case 'k':
		fail("-k: there are no threads of Linux's kernel in primary mode; -u measures a thread of a process");
	case 'i':
		fail("-i: no handler of an interrupt runs in Linux's kernel in primary mode; "
		     "-u measures a thread of a process");
	case 's':
		fail("-s: there are no synthetic interrupts to Linux's kernel; -u measures a thread of a process");
	case 't':
	case 'r':
		fail("-%c: there is nothing to tune: no timer is programmed early to make up for a known latency; "
		     "-m measures", option);
	default:
		fail("-%c: there is no test by GPIO; -u measures a thread of a process", option);
	}
}

static void take(int option, const char *value)
{
	if (sampling_takes(&sampling, option, value))
		return;
	switch (option) {
	case 'm':
	case 'u':
		break;
	case 'T':
		rows.duration = seconds_of(value);
		break;
	case 'g':
		plot = plot_open(value);
		break;
	case 'H':
		cells = number_of("-H", value, 1, 10000000);
		break;
	case 'l':
		rows.lines = number_of("-l", value, 0, 1000000);
		break;
	case 'v':
		verbosity = value ? number_of("-v", value, 0, 9) : 2;
		break;
	case 'q':
		verbosity = 0;
		break;
	case 'a':
		sampling.breaks = true;
		break;
	case 'k':
	case 'i':
	case 's':
	case 't':
	case 'r':
	case 'Z':
	case 'z':
		refuse(option);
		break;
	default:
		xenomai_help();
		exit(2);
	}
}

static void prepare(void)
{
	static char about[96];

	snprintf(about, sizeof(about), "user, %lld us period, priority %d, CPU%d",
		 (long long)sampling.period / MICROSECOND, sampling.priority, sampling.cpu);
	rows.about = about;
	sampling.seconds = rows.duration;
	rows.is_quiet = !verbosity;
	if (!plot)
		return;
	histogram_init(&all, cells, MICROSECOND);
	sampling.histogram = &all;
}

int main(int count, char **arguments)
{
	int option;

	while ((option = getopt_long(count, arguments, "mup:P:c:T:g:H:l:v::qakistrZ:z:", options, NULL)) != -1)
		take(option, optarg);
	if (optind < count)
		fail("%s: there are only options; --help shows them", arguments[optind]);
	need_primary();
	prepare();
	if (verbosity) {
		printf("warming up on CPU%d...\n", sampling.cpu);
		fflush(stdout);
	}
	sampling_begin(&sampling);
	rows_run(&rows);
	rows_end(&rows);
	if (verbosity > 1)
		sampling_tell();
	if (plot)
		plot_close(plot, &sampling, &rows);
	rows_check();
	return 0;
}
