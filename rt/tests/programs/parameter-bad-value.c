/*
 * A value that does not fit its variable: init_module is not called.
 *
 * parameters: level=256
 * prints: parameter level=256: a value is not a number, or does not fit
 * ends: refused
 */
#include <rtl.h>

static unsigned char level;
MODULE_PARM(level, "b");

int init_module(void)
{
	rtl_printf("init_module with level %d\n", level);
	return 0;
}

void cleanup_module(void)
{
}
