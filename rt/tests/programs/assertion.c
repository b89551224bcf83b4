/*
 * An assertion that does not hold stops the task, with a line that says which.
 *
 * prints: assertion failed: value == 4 (...assertion.c:20, init_module)
 * ends: faulted
 */
#include <rtl.h>
#include <assert.h>

static int value = 5;

void cleanup_module(void)
{
}

int init_module(void)
{
	/* The line number is part of what is expected. */

	assert(value == 4);
	rtl_printf("goes on\n");
	return 0;
}
