/*
 * A program whose init_module fails is removed, without a call of its cleanup_module.
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
