/* char-ish module: parameters first, list, timers of kernel types, ioctl */
#define __NO_VERSION__
#include <linux/config.h>
#include <linux/module.h>
#include <linux/ioctl.h>
#include <linux/types.h>
#include <linux/string.h>
#include <linux/mc146818rtc.h>
#include <asm/uaccess.h>
#include <asm/errno.h>
#include <rtl_conf.h>
#include <rtl_core.h>
#include <rtl_fifo.h>
#include <rtl_sched.h>
#include <rtl_printf.h>
#define MAGIC 'k'
#define SET_PERIOD _IOW(MAGIC, 1, int)

MODULE_PARM_DESC(period_us, "period in us");
int period_us = 1000;
MODULE_PARM(period_us, "i");
static pthread_t rtc_thread;
static int user_ioctl(unsigned int minor, unsigned int cmd, unsigned long arg)
{
	switch (cmd) { case SET_PERIOD: if (get_user(period_us, (int *)arg)) return -EFAULT; return 0; default: return -ENOTTY; }
}
static unsigned int rtc_irq(unsigned int irq, struct pt_regs *regs)
{
	pthread_wakeup_np(rtc_thread); CMOS_READ(RTC_INTR_FLAGS); rtl_hard_enable_irq(8); return 0;
}
static void *rt(void *a)
{
	struct { long sec; unsigned short v; } __attribute__((packed)) rec;
	for (;;) { pthread_suspend_np(pthread_self()); rec.sec = (long)(gethrtime() / NSECS_PER_SEC); rec.v = inw(0x300); rtf_put(3, &rec, sizeof(rec)); }
	return NULL;
}
static int __init my_init(void)
{
	int r;
	if ((r = rtf_create(3, 2048)) < 0) return r;
	rtf_link_user_ioctl(3, user_ioctl);
	pthread_create(&rtc_thread, NULL, rt, NULL);
	r = rtl_request_global_irq(8, rtc_irq);
	rtl_no_interrupts(r); CMOS_WRITE(CMOS_READ(RTC_CONTROL) | RTC_PIE, RTC_CONTROL); rtl_restore_interrupts(r);
	return 0;
}
static void __exit my_exit(void) { rtl_free_global_irq(8); pthread_delete_np(rtc_thread); rtf_destroy(3); }
module_init(my_init);
module_exit(my_exit);
