/*
 * From a periodic thread's release to its first instruction after pthread_wait_np, while another
 * task (rt-busy) computes.
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_time.h>

#include "../../include/measure/program.h"
#include "figure.h"

#define SAMPLES 2000
#define PERIOD 50000

static char *name = "rt_periodic";
MODULE_PARM(name, "s");

static struct series late;

static void work(void)
{
	hrtime_t release = clock_gethrtime(CLOCK_RTL_SCHED) + 20 * PERIOD;
	int i;

	pthread_make_periodic_np(pthread_self(), release, PERIOD);
	for (i = 0; i < SAMPLES; i++, release += PERIOD) {
		pthread_wait_np();
		series_add(&late, clock_gethrtime(CLOCK_RTL_SCHED) - release);
	}
	figure_tell(&late, name);
}

MEASURE_PROGRAM(100, work)
