/*
 * A program that asks for what another one has, for `./x test told`.
 */
#include <linux/module.h>

int init_module(void)
{
	return 0;
}

void cleanup_module(void)
{
}
