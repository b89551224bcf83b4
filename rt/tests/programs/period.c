/*
 * A periodic thread runs at start + k * period. A release that it is late for is skipped; a wake-up
 * by another thread is an extra one.
 *
 * prints: release 0 1 2 3 on time
 * prints: after a long job: release 7
 * prints: woken before its release, and then release 8
 * prints: started by another thread: release 0 at once
 * prints: then release 1
 * prints: one release without a period, and then none
 * prints: bad arguments: 22 3
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

#define PERIOD 1000000LL
#define LATE_MAX 20000

static pthread_t thread, other, idle;
static hrtime_t start, other_start;

static long release(hrtime_t from)
{
	hrtime_t since = gethrtime() - from;
	return since % PERIOD < LATE_MAX ? since / PERIOD : -1;
}

static void *never(void *unused)
{
	int i;

	for (i = 0; i < 2; i++)
		pthread_wait_np();
	rtl_printf("started by another thread: release 0 at once\n");
	pthread_wait_np();
	rtl_printf("then release %ld\n", release(other_start));
	pthread_make_periodic_np(pthread_self(), gethrtime() + PERIOD, 0);
	pthread_wait_np();
	rtl_printf("one release without a period, ");
	pthread_make_periodic_np(pthread_self(), HRTIME_INFINITY, 0);
	pthread_wait_np();
	return unused;
}

static void *work(void *unused)
{
	long at[4];
	int i;

	start = gethrtime() + PERIOD;
	pthread_make_periodic_np(pthread_self(), start, PERIOD);
	for (i = 0; i < 4; i++) {
		pthread_wait_np();
		at[i] = release(start);
	}
	rtl_printf("release %ld %ld %ld %ld on time\n", at[0], at[1], at[2], at[3]);
	rtl_delay(3 * PERIOD + PERIOD / 2);
	pthread_wait_np();
	rtl_printf("after a long job: release %ld\n", release(start));
	pthread_wakeup_np(other);
	pthread_wait_np();
	rtl_printf("woken before its release, ");
	pthread_wait_np();
	rtl_printf("and then release %ld\n", release(start));
	other_start = gethrtime() - 10;
	pthread_make_periodic_np(idle, other_start, PERIOD);
	usleep(5000);
	rtl_printf("and then none\n");
	rtl_printf("bad arguments: %d %d\n", pthread_make_periodic_np(idle, 0, -1), pthread_make_periodic_np(NULL, 0, 1));
	pillion_unload();
	return unused;
}

static void *waker(void *unused)
{
	pthread_suspend_np(pthread_self());
	usleep(300);
	pthread_wakeup_np(thread);
	return unused;
}

int init_module(void)
{
	pthread_create(&other, NULL, waker, NULL);
	pthread_create(&idle, NULL, never, NULL);
	pthread_wakeup_np(idle);
	return pthread_create(&thread, NULL, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
	pthread_delete_np(idle);
	pthread_join(other, NULL);
}
