/* Tries to start a Linux that is already running: refused. Part of outlives.toml. */
#include <errno.h>
#include <linux/module.h>
#include <rtl.h>
#include <pillion.h>

int init_module(void)
{
	int result = pillion_start_linux();

	rtl_printf("start while it runs: %d, errno %d\n", result, errno);
	return 0;
}

void cleanup_module(void)
{
}
