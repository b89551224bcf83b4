/* Computes for 400 µs, again and again, with 600 µs in between. Part of dual-urgent.toml. */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_sched.h>
#include <unistd.h>

static pthread_t thread;

static void *work(void *unused)
{
	for (;;) {
		hrtime_t begin;

		usleep(600);
		begin = gethrtime();
		while (gethrtime() - begin < 400 * 1000)
			;
	}
	return unused;
}

int init_module(void)
{
	return -pthread_create(&thread, NULL, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
}
