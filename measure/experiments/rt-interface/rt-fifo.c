/*
 * The cost of FIFOs to Linux: that of rtf_put with 64 bytes while the reader in Linux sleeps, and,
 * reported by measure-fifo in Linux, how soon the reader has them and how many bytes get through.
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_fifo.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pillion.h>

#include "figure.h"
#include "in-linux/fifo.h"

#define SMALL 0
#define BULK 1
#define GO 2
#define BULK_ROOM (64 * BULK_SIZE)
/*
 * The first period is long enough for Linux to sleep again before the next message; the second is
 * short enough that Linux never finds the other FIFO empty.
 */
#define SMALL_PERIOD 2000000
/*
 * When in a second the first message goes. The manager prints a line some 100 ms after each full
 * one, and Linux waits for that.
 */
#define FIRST 250000000
#define BULK_PERIOD 100000

static pthread_t thread;
static struct series put;

/* Waits for Linux to choose the next measurement. */
static char next(void)
{
	char what;

	while (rtf_get(GO, &what, 1) != 1)
		usleep(1000);
	return what;
}

static void small(void)
{
	struct message message = { 0 };
	hrtime_t now = clock_gethrtime(CLOCK_RTL_SCHED);
	int i;

	pthread_make_periodic_np(pthread_self(), now - now % NSECS_PER_SEC + NSECS_PER_SEC + FIRST, SMALL_PERIOD);
	for (i = 0; i < SMALL_MESSAGES; i++) {
		pthread_wait_np();
		message.ticks = ticks();
		rtf_put(SMALL, &message, sizeof(message));
		series_add(&put, ticks() - message.ticks);
	}
	/* Linux must have read the last message, too, before this thread prints. */
	pthread_wait_np();
	figure_tell(&put, "rt_fifo_put");
}

static void bulk(void)
{
	static char data[BULK_SIZE];
	int left = BULK_AHEAD + BULK_MESSAGES;

	pthread_make_periodic_np(pthread_self(), clock_gethrtime(CLOCK_RTL_SCHED) + BULK_PERIOD, BULK_PERIOD);
	while (left > 0) {
		pthread_wait_np();
		while (left > 0 && rtf_put(BULK, data, sizeof(data)) == sizeof(data))
			left--;
	}
}

static void *work(void *unused)
{
	char what;

	while ((what = next()) != START_END) {
		if (what == START_SMALL)
			small();
		else
			bulk();
		pthread_make_periodic_np(pthread_self(), HRTIME_INFINITY, 0);
	}
	return unused;
}

int init_module(void)
{
	if (rtf_create(SMALL, 4096) < 0 || rtf_create(BULK, BULK_ROOM) < 0 || rtf_create(GO, 64) < 0)
		return -ENOMEM;
	return thread_start(&thread, 100, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
	rtf_destroy(SMALL);
	rtf_destroy(BULK);
	rtf_destroy(GO);
}
