/*
 * A suspended thread continues when it is woken, and not before; a wake-up sent too early is not
 * lost.
 *
 * prints: suspends itself
 * prints: woken
 * prints: early wake-up kept
 * prints: stopped while it computed: stands still
 * prints: woken: goes on
 * prints: stopped while it slept: sleeps on
 * prints: woken: has slept
 * prints: kill: 0 0 22 3
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

#include "start.h"

static pthread_t worker, control;
static volatile long counter;
static volatile int slept, stop;

static void *work(void *x)
{
	rtl_printf("suspends itself\n");
	pthread_suspend_np(pthread_self());
	rtl_printf("woken\n");
	pthread_kill(pthread_self(), RTL_SIGNAL_WAKEUP);
	pthread_suspend_np(pthread_self());
	rtl_printf("early wake-up kept\n");
	while (!stop)
		counter++;
	usleep(1000);
	slept = 1;
	return x;
}

static void *drive(void *x)
{
	long before;

	usleep(1000);
	pthread_wakeup_np(worker);
	usleep(1000);
	pthread_suspend_np(worker);
	before = counter;
	usleep(1000);
	rtl_printf("stopped while it computed: %s\n", before && before == counter ? "stands still" : "goes on");
	pthread_wakeup_np(worker);
	usleep(1000);
	rtl_printf("woken: %s\n", before != counter ? "goes on" : "stands still");
	stop = 1;
	usleep(100);
	pthread_kill(worker, RTL_SIGNAL_SUSPEND);
	usleep(3000);
	rtl_printf("stopped while it slept: %s\n", slept ? "goes on" : "sleeps on");
	pthread_kill(worker, RTL_SIGNAL_WAKEUP);
	usleep(2000);
	rtl_printf("woken: %s\n", slept ? "has slept" : "sleeps on");
	rtl_printf("kill: %d %d %d ", pthread_kill(worker, 0), pthread_kill(pthread_self(), 0), pthread_kill(worker, 40));
	pthread_join(worker, NULL);
	rtl_printf("%d\n", pthread_kill(worker, 0));
	pillion_unload();
	return x;
}

int init_module(void)
{
	pthread_create(&worker, NULL, work, NULL);
	return start(&control, 5, drive, NULL);
}

void cleanup_module(void)
{
	pthread_join(control, NULL);
}
