/*
 * In the kernel's address space, a program runs in kernel mode, on pages that are not user pages,
 * and in time. Without a trace, it cannot know when the kernel was entered.
 *
 * prints: privilege level 0, paging on
 * prints: 1000 releases, 1000 in time
 * prints: kernel entry 0
 * run: --patch measure/experiments/latency-under-load/shared-space.patch
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

#define RELEASES 1000
#define PERIOD 50000LL
#define LATE_MAX 1000

#define PAGING (1ULL << 31)

static pthread_t thread;

static void *work(void *unused)
{
	int i, in_time = 0;
	unsigned short code;
	unsigned long long control;
	hrtime_t release;

	__asm__("mov %%cs, %0" : "=r" (code));
	/*
	 * Only kernel mode may read it; SMEP and SMAP would not let kernel mode run or read user
	 * pages.
	 */
	__asm__("mov %%cr0, %0" : "=r" (control));
	rtl_printf("privilege level %d, paging %s\n", code & 3, control & PAGING ? "on" : "off");
	release = gethrtime() + PERIOD;
	pthread_make_periodic_np(pthread_self(), release, PERIOD);
	for (i = 0; i < RELEASES; i++, release += PERIOD) {
		pthread_wait_np();
		in_time += gethrtime() - release < LATE_MAX;
	}
	rtl_printf("%d releases, %d in time\n", RELEASES, in_time);
	rtl_printf("kernel entry %lld\n", pillion_kernel_entry());
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
