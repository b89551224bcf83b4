/*
 * A program without may_start_linux is refused.
 *
 * prints: start: -1, errno 1
 */
#include <errno.h>
#include <linux/module.h>
#include <rtl.h>
#include <pillion.h>

int init_module(void)
{
	int result = pillion_start_linux();

	rtl_printf("start: %d, errno %d\n", result, errno);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
