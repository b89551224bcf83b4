/* A thread with a period, on a processor that Linux does not have. */
#include <rtl.h>
#include <pthread.h>
#include <rtl_sched.h>

static pthread_t thread;

static void *run(void *unused)
{
	pthread_make_periodic_np(pthread_self(), gethrtime(), 20 * 1000000);
	for (;;)
		pthread_wait_np();
	return unused;
}

int init_module(void)
{
	return pthread_create(&thread, NULL, run, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
}
