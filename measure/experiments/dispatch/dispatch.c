/*
 * Interrupt response and process dispatch of a task: the edu device, raised by a process in Linux, interrupts a line of this task; its handler wakes a
 * thread.
 */
#include <rtl.h>
#include <rtl_core.h>
#include <rtl_sched.h>
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
static struct histogram response, dispatch, wake;

static unsigned int handler(unsigned int irq, struct pt_regs *registers)
{
	handled = ticks();
	sem_post(&arrived);
	rtl_hard_enable_irq(irq);
	return 0;
}

static void *wait_for_interrupts(void *unused)
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
	} while (!is_last);
	histogram_tell(&response, "irt", "ns");
	histogram_tell(&dispatch, "pdlt", "ns");
	histogram_tell(&wake, "wake", "ns");
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
	error = pthread_create(&thread, &attributes, wait_for_interrupts, NULL);
	return error ? -error : rtl_request_irq(line, handler);
}

void cleanup_module(void)
{
	rtl_free_irq(line);
	pthread_delete_np(thread);
	mbuff_free(DISPATCH_AREA, shared);
}
