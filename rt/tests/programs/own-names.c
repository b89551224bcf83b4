/*
 * A program's own functions and variables come before the library's of the same name.
 *
 * prints: schedule of the program, udelay 8, sysconf 3
 * prints: the library still works: 1
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <pthread.h>
#include <pillion.h>

int sysconf = 3;

int udelay(int value)
{
	return value + 1;
}

void schedule(void)
{
	rtl_printf("schedule of the program, udelay %d, sysconf %d\n", udelay(7), sysconf);
}

static void *run(void *unused)
{
	rtl_printf("the library still works: %d\n", pthread_self() != pthread_linux());
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	pthread_t thread;

	schedule();
	return pthread_create(&thread, NULL, run, NULL);
}

void cleanup_module(void)
{
}
