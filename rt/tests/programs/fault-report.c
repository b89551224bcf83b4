/*
 * A program that writes to forbidden memory is stopped; its earlier output is there.
 *
 * prints: before
 * ends: faulted
 * never: after
 */
#include <linux/module.h>
#include <rtl.h>

static int *nowhere;

int init_module(void)
{
	rtl_printf("before\n");
	*(volatile int *)nowhere = 1;
	rtl_printf("after\n");
	return 0;
}

void cleanup_module(void)
{
}
