/*
 * A thread that sleeps until a deadline, as cyclictest's does: every 0.5 to 1.5 ms, at intervals
 * that fall into step with nothing.
 */
#include <rtl.h>
#include <rtl_sched.h>

#include "../../include/measure.h"

#define LEAST_US 500
#define MOST_US 1500
/* The default: as many as `seconds` allow. */
#define MOST_SAMPLES 1000000

static int seconds = 1;
MODULE_PARM(seconds, "i");
static int samples = MOST_SAMPLES;
MODULE_PARM(samples, "i");

static struct histogram total;

/* An interval: multiples of the golden ratio's fraction spread over the range without a period. */
static hrtime_t distance(unsigned int number)
{
	unsigned int part = number * 0x9e3779b9U;

	return (LEAST_US + (((unsigned long long)part * (MOST_US - LEAST_US + 1)) >> 32)) * 1000;
}

static void sleep_until(hrtime_t deadline)
{
	hrtime_t late;

	clock_nanosleep(CLOCK_RTL_SCHED, TIMER_ABSTIME, hrt2ts(deadline), NULL);
	MARK_WOKE();
	late = gethrtime() - deadline;
	measure_late(late);
	histogram_add(&total, late);
}

static void work(void)
{
	hrtime_t deadline = gethrtime() + 1000000, end = deadline + seconds * 1000000000LL;
	int number;

	measure_begin();
	for (number = 0; number < samples && deadline < end; number++) {
		deadline += distance(number);
		sleep_until(deadline);
	}
	measure_done();
	histogram_tell(&total, "total", "ns");
}

MEASURE_PROGRAM(100, work)
