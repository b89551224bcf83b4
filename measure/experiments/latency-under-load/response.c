/*
 * Response to a timer whose interval changes after every 100 interrupts: from the timer's deadline
 * to the kernel's entry, from there to the first instruction of this thread, and both together.
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

#include "../../include/measure.h"

/* Interrupts with the same interval, and the shortest and the longest interval. */
#define GROUP 100
#define LEAST_US 500
#define MOST_US 3000
#define GROUPS 1000

static int seconds = 10;
MODULE_PARM(seconds, "i");

static pthread_t thread;
static struct histogram entry, handler, total;
static struct point list[GROUPS];
static struct points worst_at = POINTS(list);
static unsigned int overruns;
static int traced;

/* A group's interval: multiples of the golden ratio's fraction, spread without a period. */
static int distance_us(unsigned int group)
{
	unsigned int part = group * 0x9e3779b9U;

	return LEAST_US + (int)(((unsigned long long)part * (MOST_US - LEAST_US + 1)) >> 32);
}

static hrtime_t respond(hrtime_t release)
{
	hrtime_t now, entered;

	pthread_wait_np();
	MARK_RESPONSE();
	now = gethrtime();
	entered = pillion_kernel_entry();
	histogram_add(&total, now - release);
	if (entered < release)
		return now - release;
	traced = 1;
	histogram_add(&entry, entered - release);
	histogram_add(&handler, now - entered);
	return now - release;
}

/* Measures interrupts with the same interval. */
static void measure_group(hrtime_t period)
{
	hrtime_t release = gethrtime() + period, late, worst = 0;
	int i;

	pthread_make_periodic_np(pthread_self(), release, period);
	for (i = 0; i < GROUP; i++, release += period) {
		late = respond(release);
		if (late > worst)
			worst = late;
		if (late > period)
			overruns++;
	}
	points_add(&worst_at, period / 1000, worst * 1000);
}

/* Tracing makes the total longer; it then gets a name of its own. */
static void tell(void)
{
	histogram_tell(&total, traced ? "traced_total" : "total", "ns");
	if (traced) {
		histogram_tell(&entry, "entry", "ns");
		histogram_tell(&handler, "handler", "ns");
	} else {
		line_say("figure overruns %u 1", overruns);
		points_tell(&worst_at, "worst_at", "us ns");
	}
}

static void *work(void *unused)
{
	hrtime_t end = gethrtime() + seconds * 1000000000LL;
	unsigned int group;

	measure_begin();
	for (group = 0; gethrtime() < end; group++)
		measure_group(distance_us(group) * 1000LL);
	measure_done();
	pthread_make_periodic_np(pthread_self(), HRTIME_INFINITY, 0);
	tell();
	pillion_unload();
	return unused;
}

int init_module(void)
{
	return thread_start(&thread, 100, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
}
