/* A program that stays loaded, as a module does. */
#include <rtl.h>

int init_module(void)
{
	rtl_printf("it stays\n");
	return 0;
}

void cleanup_module(void)
{
}
