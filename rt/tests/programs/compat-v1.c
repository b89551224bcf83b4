/*
 * RTLinux's first interface: a task that is made periodic begins at its first release, and time is
 * in ticks of the 8254 timer.
 *
 * prints: init 0
 * prints: periodic 0
 * prints: begun with 7, at its first release 1
 * prints: release 1, a tick period later 1
 * prints: release 2, a tick period later 1
 * prints: woken task 9
 * prints: deleted 0
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <asm/rt_time.h>
#include <pillion.h>

#define PERIOD (RT_TICKS_PER_SEC / 100)

static RT_TASK task, other;
static RTIME start;

static int near(RTIME time, RTIME expected)
{
	return time >= expected - 1 && time < expected + PERIOD / 2;
}

static void run(int argument)
{
	int i;

	rtl_printf("begun with %d, at its first release %d\n", argument, near(rt_get_time(), start));
	for (i = 1; i < 3; i++) {
		rt_task_wait();
		rtl_printf("release %d, a tick period later %d\n", i, near(rt_get_time(), start + i * PERIOD));
	}
	rt_task_wakeup(&other);
}

static void run_other(int argument)
{
	rtl_printf("woken task %d\n", argument);
	pillion_unload();
}

int init_module(void)
{
	rtl_printf("init %d\n", rt_task_init(&task, run, 7, 3000, 4));
	rt_task_init(&other, run_other, 9, 3000, 5);
	start = rt_get_time() + PERIOD;
	rtl_printf("periodic %d\n", rt_task_make_periodic(&task, start, PERIOD));
	return 0;
}

void cleanup_module(void)
{
	rt_task_delete(&other);
	rtl_printf("deleted %d\n", rt_task_delete(&task));
}
