/*
 * In the style of the time: a clock's own timer, a port, and Linux's kernel in between.
 *
 * task: ports = [{ first = 0x61, count = 1 }]
 * prints: 1 500
 * prints: interrupts 1, same 1
 */
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/delay.h>
#include <asm/io.h>
#include <rtl.h>
#include <rtl_core.h>
#include <rtl_time.h>
#include <pillion.h>
static struct rtl_clock *clk;
static clockid_t clock;
static int save_cr0, ffs, hits;
static unsigned long last;
static char vol = 5;
static int filter(int x) { static int oldx; int ret; if (x & 0x80) x = 382 - x; ret = x > oldx; oldx = x; return ret; }
void timer_handler(struct pt_regs *r) { unsigned char d; hits++; d = inb(0x61); d = (d & ~2) | (filter(hits) << 1); outb(d, 0x61); clk->settimer(clk, 125000); if (hits == 8) pillion_unload(); }
int init_module(void)
{
	wait_queue_head_t q;
	init_waitqueue_head(&q);
	clk = rtl_getbestclock(rtl_getcpuid());
	clock = clk;
	last = jiffies;
	if (rtl_setclockhandler(clk, timer_handler)) return -EBUSY;
	clk->init(clk); clk->settimermode(clk, RTL_CLOCK_MODE_ONESHOT); clk->settimer(clk, 125000);
	save_cr0 = current->pid;
	schedule_timeout(HZ/10); udelay(5);
	printk("%ld %ld\n", (jiffies - last) / 10, (long)(HZ * vol));
	return 0;
}
void cleanup_module(void) { printk("interrupts %d, same %d\n", hits > 8, clock == clk && !ffs && save_cr0 == 1); clk->uninit(clk); rtl_unsetclockhandler(clk); }
