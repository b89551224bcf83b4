/*
 * Computes for a while, less urgently than any other thread. It begins when its task has started:
 * until then the resource manager's warden watches the task, and its deadline would be checked at
 * each release of others.
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <unistd.h>
#include <pillion.h>

static int ms = 150;
MODULE_PARM(ms, "i");

static pthread_t thread;

static void *work(void *unused)
{
	hrtime_t end;
	volatile int work = 0;

	usleep(500);
	end = clock_gethrtime(CLOCK_RTL_SCHED) + ms * 1000000LL;
	while (clock_gethrtime(CLOCK_RTL_SCHED) < end)
		work++;
	pillion_unload();
	return unused;
}

int init_module(void)
{
	return pthread_create(&thread, NULL, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
}
