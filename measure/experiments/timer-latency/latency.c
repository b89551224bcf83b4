/* Latency of a 10 kHz timer: from each release of a periodic thread to its first instruction. */
#include <rtl.h>
#include <rtl_sched.h>

#include "../../include/measure.h"

#define PERIOD 100000

static int seconds = 10;
MODULE_PARM(seconds, "i");

static struct histogram latency;
static unsigned int overruns;

static void measure(int releases)
{
	hrtime_t late, release = gethrtime() + 10 * PERIOD;
	int i;

	pthread_make_periodic_np(pthread_self(), release, PERIOD);
	for (i = 0; i < releases; i++, release += PERIOD) {
		pthread_wait_np();
		MARK_RESPONSE();
		late = gethrtime() - release;
		histogram_add(&latency, late);
		/* The library skips missed releases. */
		overruns += late / PERIOD;
		release += late / PERIOD * PERIOD;
	}
	pthread_make_periodic_np(pthread_self(), HRTIME_INFINITY, 0);
}

static void work(void)
{
	measure(seconds * (1000000000 / PERIOD));
	histogram_tell(&latency, "latency", "ns");
	line_say("figure latency_overruns %u 1", overruns);
}

MEASURE_PROGRAM(100, work)
