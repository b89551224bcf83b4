/*
 * The PC's clock chip interrupts 64 times a second; the handler wakes a thread, as "sound" and data
 * acquisition programs do.
 *
 * task: ports = [{ first = 0x70, count = 2 }]
 * task: interrupts = [{ line = 8 }]
 * prints: taken already -16
 * prints: interrupts 5, woken 5
 * prints: free 0, again -22
 */
#include <rtl.h>
#include <rtl_core.h>
#include <rtl_sched.h>
#include <linux/mc146818rtc.h>
#include <pillion.h>

static pthread_t thread;
static int interrupts, woken;

static unsigned int handler(unsigned int irq, struct pt_regs *regs)
{
	(void)CMOS_READ(RTC_INTR_FLAGS);
	interrupts++;
	pthread_wakeup_np(thread);
	rtl_hard_enable_irq(irq);
	return 0;
}

static void *run(void *arg)
{
	while (woken < 5) {
		pthread_suspend_np(pthread_self());
		woken++;
	}
	CMOS_WRITE(CMOS_READ(RTC_CONTROL) & ~RTC_PIE, RTC_CONTROL);
	rtl_printf("interrupts %d, woken %d\n", interrupts, woken);
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	int status;

	pthread_create(&thread, NULL, run, NULL);
	status = rtl_request_irq(RTC_IRQ, handler);
	if (status)
		return status;
	rtl_printf("taken already %d\n", rtl_request_irq(RTC_IRQ, handler));
	CMOS_WRITE((CMOS_READ(RTC_FREQ_SELECT) & ~RTC_RATE_SELECT) | 10, RTC_FREQ_SELECT);
	CMOS_WRITE(CMOS_READ(RTC_CONTROL) | RTC_PIE, RTC_CONTROL);
	(void)CMOS_READ(RTC_INTR_FLAGS);
	rtl_hard_enable_irq(RTC_IRQ);
	return 0;
}

void cleanup_module(void)
{
	int freed = rtl_free_irq(RTC_IRQ);

	rtl_printf("free %d, again %d\n", freed, rtl_free_irq(RTC_IRQ));
	pthread_delete_np(thread);
}
