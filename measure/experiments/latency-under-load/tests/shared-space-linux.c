/*
 * In the kernel's address space, a program runs in kernel mode and in time beside Linux, which
 * boots and works as usual.
 *
 * prints: privilege level 0
 * prints: 30000 releases, 30000 in time
 * load: disk
 * run: --patch measure/experiments/latency-under-load/shared-space.patch --memory 512 --seconds 1
 * limit: 300
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

#define RELEASES 30000
#define PERIOD 100000LL
#define LATE_MAX 1500

static pthread_t thread;

static void *work(void *unused)
{
	int i, in_time = 0;
	unsigned short code;
	hrtime_t release = gethrtime() + PERIOD;

	__asm__("mov %%cs, %0" : "=r" (code));
	rtl_printf("privilege level %d\n", code & 3);
	pthread_make_periodic_np(pthread_self(), release, PERIOD);
	for (i = 0; i < RELEASES; i++, release += PERIOD) {
		pthread_wait_np();
		in_time += gethrtime() - release < LATE_MAX;
	}
	rtl_printf("%d releases, %d in time\n", RELEASES, in_time);
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
