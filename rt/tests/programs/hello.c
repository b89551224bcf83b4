/*
 * A module's init and cleanup, a parameter, and a thread in between.
 *
 * parameters: times=2
 * prints: init_module: times is 2
 * prints: thread: 0
 * prints: thread: 1
 * prints: cleanup_module
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

static int times = 1;
MODULE_PARM(times, "i");

static pthread_t thread;

static void *work(void *unused)
{
	int i;

	for (i = 0; i < times; i++)
		rtl_printf("thread: %d\n", i);
	pillion_unload();
	return unused;
}

int init_module(void)
{
	rtl_printf("init_module: times is %d\n", times);
	return -pthread_create(&thread, NULL, work, NULL);
}

void cleanup_module(void)
{
	pthread_join(thread, NULL);
	rtl_printf("cleanup_module\n");
}
