/*
 * The task of fault-beside.c that is independent of the one that faults: it misses nothing.
 *
 * prints: counter: 100 periods, 0 late
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pthread.h>
#include <pillion.h>

#define PERIOD 1000000
#define LATE 100000

static void *counts(void *unused)
{
	hrtime_t due = gethrtime() + PERIOD;
	int i, late = 0;

	pthread_make_periodic_np(pthread_self(), due, PERIOD);
	for (i = 0; i < 100; i++, due += PERIOD) {
		pthread_wait_np();
		late += gethrtime() - due > LATE;
	}
	rtl_printf("counter: %d periods, %d late\n", i, late);
	pillion_unload();
	return unused;
}

int init_module(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, counts, NULL);
}

void cleanup_module(void)
{
}
