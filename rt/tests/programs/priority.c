/*
 * The most urgent ready thread runs. A thread that is created, made more urgent or woken above the
 * caller runs at once; one below the caller waits.
 *
 * prints: 5 created 9: 9 runs
 * prints: 5 goes on, and created 3
 * prints: 5 ends
 * prints: 3 runs
 * prints: raised to 7: runs before 6
 * prints: 6 woke 7
 * prints: priority of 7 is 7 of 0 to 1000000
 * prints: bad priority 22
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

static char stacks[4][16384];
static pthread_t low, threads[4];

static pthread_t create(int n, int priority, void *(*f)(void *))
{
	pthread_attr_t attr;
	struct sched_param param;

	param.sched_priority = priority;
	pthread_attr_init(&attr);
	pthread_attr_setschedparam(&attr, &param);
	pthread_attr_setstackaddr(&attr, stacks[n]);
	pthread_attr_setstacksize(&attr, sizeof(stacks[n]));
	if (pthread_create(&threads[n], &attr, f, NULL))
		rtl_printf("not created\n");
	return threads[n];
}

static void *nine(void *x) { rtl_printf("5 created 9: 9 runs\n"); return x; }

static void *three(void *x)
{
	struct sched_param param;
	int policy, error;

	rtl_printf("3 runs\n");
	pthread_suspend_np(pthread_self());
	rtl_printf("raised to 7: runs before 6\n");
	pthread_suspend_np(pthread_self());
	rtl_printf("6 woke 7\n");
	pthread_getschedparam(pthread_self(), &policy, &param);
	rtl_printf("priority of 7 is %d of %d to %d\n", param.sched_priority, sched_get_priority_min(0), sched_get_priority_max(0));
	param.sched_priority = 1000001;
	error = pthread_setschedparam(pthread_self(), 0, &param);
	rtl_printf("bad priority %d\n", error);
	pillion_unload();
	return x;
}

static void *six(void *x)
{
	struct sched_param param = { 7 };

	pthread_suspend_np(pthread_self());
	pthread_wakeup_np(low);
	usleep(100);
	pthread_setschedparam(low, 0, &param);
	pthread_wakeup_np(low);
	return x;
}

static void *five(void *x)
{
	create(1, 9, nine);
	rtl_printf("5 goes on, and created 3\n");
	low = create(2, 3, three);
	rtl_printf("5 ends\n");
	return x;
}

int init_module(void)
{
	create(3, 6, six);
	create(0, 5, five);
	pthread_wakeup_np(threads[3]);
	return 0;
}

void cleanup_module(void)
{
	int i;

	for (i = 0; i < 4; i++)
		pthread_delete_np(threads[i]);
}
