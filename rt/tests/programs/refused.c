/*
 * A program whose init_module fails does not stay: its cleanup_module does not run.
 *
 * prints: init_module
 * ends: refused
 */
#include <linux/module.h>
#include <linux/errno.h>
#include <rtl.h>

int init_module(void)
{
	rtl_printf("init_module\n");
	return -EBUSY;
}

void cleanup_module(void)
{
	rtl_printf("cleanup_module\n");
}
