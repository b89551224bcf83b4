/*
 * The main thread is ended in cleanup_module: the task ends, just a little earlier.
 *
 * prints: cleanup_module
 * never: goes on
 */
#include <rtl.h>
#include <pthread.h>
#include <pillion.h>

int init_module(void)
{
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
	rtl_printf("cleanup_module\n");
	pthread_exit(NULL);
	rtl_printf("goes on\n");
}
