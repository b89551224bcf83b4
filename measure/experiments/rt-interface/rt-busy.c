/*
 * Computes for a while, in what was the Linux kernel's context: the least urgent of all.
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_time.h>
#include <pillion.h>

static int ms = 150;
MODULE_PARM(ms, "i");

int init_module(void)
{
	hrtime_t end = clock_gethrtime(CLOCK_RTL_SCHED) + ms * 1000000LL;
	volatile int work = 0;

	while (clock_gethrtime(CLOCK_RTL_SCHED) < end)
		work++;
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
