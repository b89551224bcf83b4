/*
 * The main thread cancels itself in init_module, as if init_module had failed. The code that
 * follows does not run, and the task is gone.
 *
 * prints: ends itself
 * ends: refused
 * never: goes on
 */
#include <rtl.h>
#include <pthread.h>
#include <signal.h>

int init_module(void)
{
	rtl_printf("ends itself\n");
	pthread_kill(pthread_linux(), RTL_SIGNAL_CANCEL);
	pthread_testcancel();
	rtl_printf("goes on\n");
	return 0;
}

void cleanup_module(void)
{
	rtl_printf("goes on to its cleanup\n");
}
