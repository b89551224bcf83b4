/*
 * NAME: a real-time thread that measures how late it starts, and reports it to Linux.
 *
 * Build and run:   ./x build-task NAME.c && ./x run --task NAME
 * In Linux:        modprobe pillion; od -v -A n -t d8 /dev/rtf0
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_fifo.h>
#include <rtl_sched.h>
#include <rtl_time.h>

#define FIFO 0		/* /dev/rtf0 in Linux */
#define FIFO_SIZE 4096

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("measures how late a periodic thread starts");

/*
 * Parameters: `arguments = "period_us=500"` in the system file, or
 * `pillion load NAME period_us=500` in Linux.
 */
static int period_us = 1000;
MODULE_PARM(period_us, "i");

static pthread_t thread;

/* The real-time thread. */
static void *work(void *argument)
{
	hrtime_t period = (hrtime_t)period_us * 1000;
	hrtime_t release = clock_gethrtime(CLOCK_RTL_SCHED) + period;

	pthread_make_periodic_np(pthread_self(), release, period);
	for (;;) {
		hrtime_t late;

		pthread_wait_np();	/* until the next release */
		late = clock_gethrtime(CLOCK_RTL_SCHED) - release;
		release += period;

		/* Never blocks. Without a reader, the FIFO fills up and rtf_put returns -ENOSPC. */
		rtf_put(FIFO, &late, sizeof late);
	}
	return argument;
}

/*
 * Runs first, in what was the Linux kernel's context: the place to allocate memory and to create
 * FIFOs and threads.
 */
int init_module(void)
{
	pthread_attr_t attributes;
	struct sched_param priority;
	int error;

	rtf_destroy(FIFO);
	error = rtf_create(FIFO, FIFO_SIZE);
	if (error < 0)
		return error;

	pthread_attr_init(&attributes);
	priority.sched_priority = 10;	/* larger is more urgent: 0 to 1000000 */
	pthread_attr_setschedparam(&attributes, &priority);
	error = pthread_create(&thread, &attributes, work, NULL);
	if (error) {
		rtf_destroy(FIFO);
		return -error;
	}
	rtl_printf("NAME: a release every %d us\n", period_us);
	return 0;
}

/* Runs last, at `pillion unload NAME`. */
void cleanup_module(void)
{
	pthread_delete_np(thread);
	rtf_destroy(FIFO);
}
