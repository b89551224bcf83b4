/*
 * Interrupt response and process dispatch of a task: a process in Linux makes the edu device
 * interrupt on a line of this task, whose handler wakes a thread. Then the same with a timer that
 * the thread arms, independent of what Linux does.
 */
#include <rtl.h>
#include <rtl_core.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <mbuff.h>
#include <semaphore.h>
#include <pillion.h>

#include "../../include/measure.h"
#include "dispatch.h"

static int line = 20;
MODULE_PARM(line, "i");

static pthread_t thread;
static sem_t arrived;
static struct dispatch *shared;
static volatile unsigned long long handled;
static struct histogram response, dispatch, wake, timer_response, timer_dispatch, timer_wake;

static unsigned int handler(unsigned int irq, struct pt_regs *registers)
{
	handled = ticks();
	sem_post(&arrived);
	return 0;
}

static void timer_handler(struct pt_regs *registers)
{
	handled = ticks();
	sem_post(&arrived);
}

/* Enables the line again once Linux has lowered it. */
static void enable(void)
{
	while (shared->lowered != shared->seen)
		usleep(10);
	rtl_hard_enable_irq(line);
}

static void wait_for_device(void)
{
	unsigned long long woken;
	int is_last;

	do {
		sem_wait(&arrived);
		woken = ticks();
		is_last = shared->is_last;
		histogram_add(&response, handled - shared->raised);
		histogram_add(&dispatch, woken - shared->raised);
		histogram_add(&wake, woken - handled);
		shared->seen++;
		enable();
	} while (!is_last);
}

static void wait_for_timer(void)
{
	unsigned long long due, woken;
	unsigned int number;

	for (number = 0; !shared->is_over; number++) {
		hrtime_t distance = 50000 + spread(number, 100000);

		usleep(200 + spread(number, 300));
		/* The call reads the clock a few instructions later, so these count as latency. */
		due = ticks() + distance;
		CLOCK_APIC->settimer(CLOCK_APIC, distance);
		sem_wait(&arrived);
		woken = ticks();
		histogram_add(&timer_response, handled - due);
		histogram_add(&timer_dispatch, woken - due);
		histogram_add(&timer_wake, woken - handled);
	}
}

static void *work(void *unused)
{
	wait_for_device();
	wait_for_timer();
	histogram_tell(&response, "irt", "ns");
	histogram_tell(&dispatch, "pdlt", "ns");
	histogram_tell(&wake, "wake", "ns");
	histogram_tell(&timer_response, "timer_irt", "ns");
	histogram_tell(&timer_dispatch, "timer_pdlt", "ns");
	histogram_tell(&timer_wake, "timer_wake", "ns");
	shared->has_told = 1;
	return unused;
}

int init_module(void)
{
	struct sched_param parameters = { .sched_priority = 1000 };
	pthread_attr_t attributes;
	int error;

	shared = mbuff_alloc(DISPATCH_AREA, sizeof(*shared));
	if (!shared)
		return -ENOMEM;
	sem_init(&arrived, 0, 0);
	pthread_attr_init(&attributes);
	pthread_attr_setschedparam(&attributes, &parameters);
	error = rtl_setclockhandler(CLOCK_APIC, timer_handler);
	if (error)
		return error;
	error = pthread_create(&thread, &attributes, work, NULL);
	return error ? -error : rtl_request_irq(line, handler);
}

void cleanup_module(void)
{
	rtl_free_irq(line);
	rtl_unsetclockhandler(CLOCK_APIC);
	pthread_delete_np(thread);
	mbuff_free(DISPATCH_AREA, shared);
}
