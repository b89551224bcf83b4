/* Puts a growing number into FIFO 0 every ten milliseconds. Part of linux-debian-disk.toml. */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_fifo.h>
#include <rtl_sched.h>

static pthread_t thread;

static void *work(void *unused)
{
	long long count;

	pthread_make_periodic_np(pthread_self(), gethrtime(), 10 * 1000 * 1000);
	for (count = 0;;) {
		pthread_wait_np();
		if (rtf_put(0, &count, sizeof count) > 0)
			count++;
	}
	return unused;
}

int init_module(void)
{
	int error = rtf_create(0, 4096);

	return error < 0 ? error : -pthread_create(&thread, NULL, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
	rtf_destroy(0);
}
