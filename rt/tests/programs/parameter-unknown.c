/*
 * A parameter that the program does not have: init_module is not called, and the log says why.
 *
 * parameters: period=1 perod=2
 * prints: unknown parameter perod: the program has period
 * ends: refused
 */
#include <rtl.h>

static int period;
MODULE_PARM(period, "i");

int init_module(void)
{
	rtl_printf("init_module with period %d\n", period);
	return 0;
}

void cleanup_module(void)
{
}
