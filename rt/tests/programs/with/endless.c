/*
 * Threads that loop forever, for `./x test endless`: a moment after init_module, or in it.
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pthread.h>
#include <unistd.h>
#include <linux/module.h>

static int threads = 1;
static int inside;

MODULE_PARM(threads, "i");
MODULE_PARM(inside, "i");

static void *loop(void *unused)
{
	if (!inside)
		usleep(100000);
	for (;;)
		;
	return unused;
}

int init_module(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < threads; i++)
		pthread_create(&thread, NULL, loop, NULL);
	if (inside)
		loop(NULL);
	return 0;
}

/* The threads are still there: unloading the task ends them. */
void cleanup_module(void)
{
}
