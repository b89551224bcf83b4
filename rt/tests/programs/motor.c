/*
 * A control engineer's program: a PI loop at 10 kHz (native/motor.h) in a real-time thread. Each
 * step is logged to /dev/rtf0. A program in Linux (with/read-motor.c) starts the loop by writing to
 * /dev/rtf1, reads the log, compares it with that of the same loop run on the host, and sends back
 * its findings.
 *
 * native: -lm
 * partner: read-motor
 * prints: a thread at 10 kHz is ready
 * prints: 3000 steps, 0 late by more than 20 us
 * prints: Linux: 3000 steps read, all as on the host, speed follows
 * run: --memory 512
 * task: fifo_kib = 512
 * limit: 300
 */
#include "native/motor.h"

#ifdef NATIVE
#include <stdio.h>

int main(void)
{
	struct motor motor = { 0 };
	struct control control = { 0 };
	long long i;

	for (i = 0; i < STEPS; i++) {
		struct record now = step(i, &motor, &control);

		printf("%lld %a %a %a %a\n", now.step, now.wanted, now.measured, now.filtered, now.volts);
	}
	return 0;
}
#else
#include <rtl.h>
#include <rtl_fifo.h>
#include <rtl_printf.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pthread.h>
#include <pillion.h>
#include "start.h"

#define LOG 0			/* /dev/rtf0: records, to Linux */
#define ANSWER 1		/* /dev/rtf1: text, from Linux */
#define LOG_SIZE (128 * 1024)
#define PERIOD 100000		/* ns */

static pthread_t thread;

static void *run(void *unused)
{
	struct motor motor = { 0, 0, 0 };
	struct control control = { 0, 0 };
	int i, late = 0, lost = 0;
	hrtime_t release = clock_gethrtime(CLOCK_RTL_SCHED) + PERIOD;

	pthread_make_periodic_np(pthread_self(), release, PERIOD);
	for (i = 0; i < STEPS; i++) {
		struct record now;

		pthread_wait_np();
		late += clock_gethrtime(CLOCK_RTL_SCHED) - release > 20000;
		release += PERIOD;
		now = step(i, &motor, &control);
		lost += rtf_put(LOG, &now, sizeof(now)) != sizeof(now);
	}
	rtl_printf("%d steps, %d late by more than 20 us\n", i, late);
	if (lost)
		rtl_printf("%d were not logged\n", lost);
	return unused;
}

/*
 * Runs in what was the Linux kernel's context when the program in Linux writes: first "start",
 * later its findings.
 */
static int on_write(unsigned int fifo)
{
	char text[200];
	int length = rtf_get(fifo, text, sizeof(text) - 1);

	if (length <= 0)
		return 0;
	text[length] = 0;
	if (strcmp(text, "start") != 0) {
		rtl_printf("Linux: %s\n", text);
		pillion_unload();
		return 0;
	}
	return -start(&thread, 100, run, NULL);
}

int init_module(void)
{
	if (rtf_create(LOG, LOG_SIZE) < 0 || rtf_create(ANSWER, 1024) < 0)
		return -ENOMEM;
	rtl_printf("a thread at 10 kHz is ready\n");
	return rtf_create_handler(ANSWER, on_write);
}

void cleanup_module(void)
{
	rtf_destroy(LOG);
	rtf_destroy(ANSWER);
}
#endif
