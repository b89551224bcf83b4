/*
 * If the kernel traces, a thread learns when the interrupt that woke it entered the kernel: after
 * the release, before the thread runs.
 *
 * prints: before the first wait: in the past
 * prints: 100 releases: entered after the release 100, before the thread 100
 * run: --kernel-append trace=1
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

#define RELEASES 100
#define PERIOD 100000LL

static pthread_t thread;

static void *work(void *unused)
{
	int i, after_release = 0, before_thread = 0;
	hrtime_t release, entry, now;

	entry = pillion_kernel_entry();
	rtl_printf("before the first wait: %s\n", entry >= 0 && entry < gethrtime() ? "in the past" : "wrong");
	release = gethrtime() + PERIOD;
	pthread_make_periodic_np(pthread_self(), release, PERIOD);
	for (i = 0; i < RELEASES; i++, release += PERIOD) {
		pthread_wait_np();
		now = gethrtime();
		entry = pillion_kernel_entry();
		after_release += entry >= release;
		before_thread += entry < now;
	}
	rtl_printf("%d releases: entered after the release %d, before the thread %d\n", RELEASES, after_release, before_thread);
	pillion_unload();
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
