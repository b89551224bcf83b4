/*
 * How much longer than requested nanosleep takes, for periods from 0 to 50 ms; and a software
 * oscilloscope: a thread that reads the clock continuously sees the gaps in which it could not.
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pillion.h>

#include "../../include/measure.h"

#define PRIORITY 50
#define LONGEST_MS 50
/* A gap is at least this long; reading the clock takes far less. */
#define GAP_NS 300
#define GAPS 400

/* Difference between successive periods, and how often each is slept. */
static int step_us = 1000;
MODULE_PARM(step_us, "i");
static int repeats = 3;
MODULE_PARM(repeats, "i");
static int oscilloscope_ms = 100;
MODULE_PARM(oscilloscope_ms, "i");
/* Passed by the script in Linux that starts tasks; the program takes as long as it needs. */
static int seconds;
MODULE_PARM(seconds, "i");

static pthread_t thread;

static struct point delay_list[LONGEST_MS * 10 + 1];
static struct points delays = POINTS(delay_list);
static struct series delay;

static struct point gap_list[GAPS];
static struct points gaps = POINTS(gap_list);
static struct series gap;

static long long time_slept(const struct timespec *period)
{
	hrtime_t start = clock_gethrtime(CLOCK_RTL_SCHED);

	nanosleep(period, NULL);
	return clock_gethrtime(CLOCK_RTL_SCHED) - start;
}

static void measure_delay(void)
{
	struct timespec period;
	long long longest, late;
	int us, i;

	for (us = 0; us <= LONGEST_MS * 1000; us += step_us) {
		period = timespec_from_ns(us * 1000LL);
		longest = 0;
		for (i = 0; i < repeats; i++) {
			late = time_slept(&period) - us * 1000LL;
			series_add(&delay, late);
			if (late > longest)
				longest = late;
		}
		points_add(&delays, us, longest);
	}
}

static void look_at_clock(void)
{
	hrtime_t start = clock_gethrtime(CLOCK_RTL_SCHED), last = start, now;

	while (last - start < oscilloscope_ms * 1000000LL) {
		now = clock_gethrtime(CLOCK_RTL_SCHED);
		if (now - last > GAP_NS) {
			points_add(&gaps, (last - start) / 1000, now - last);
			series_add(&gap, now - last);
		}
		last = now;
	}
}

static void *measure(void *unused)
{
	measure_delay();
	look_at_clock();
	points_tell(&delays, "delay", "us us");
	series_tell(&delay, "delay", "ns");
	points_tell(&gaps, "gap", "us us");
	line_say("figure gap_samples %llu 1", gap.count);
	line_say("figure gap_max %llu ns", gap.most);
	line_say("figure gap_share %llu.%04llu %%", gap.sum / (oscilloscope_ms * 10000ULL),
		 gap.sum % (oscilloscope_ms * 10000ULL) / oscilloscope_ms);
	pillion_unload();
	return unused;
}

int init_module(void)
{
	return thread_start(&thread, PRIORITY, measure, NULL);
}

void cleanup_module(void)
{
	pthread_join(thread, NULL);
}
