/*
 * Lacks the permission to end the system.
 *
 * prints: end: -1, errno 1
 */
#include <errno.h>
#include <linux/module.h>
#include <rtl.h>
#include <pillion.h>

int init_module(void)
{
	int result = pillion_end_system(0);

	rtl_printf("end: %d, errno %d\n", result, errno);
	return 0;
}

void cleanup_module(void)
{
	rtl_printf("cleanup_module\n");
}
