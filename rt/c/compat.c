/* Parts of RTLinux's first interface that need the headers' constants and structures. */
#include <pthread.h>
#include <rtl_compat.h>
#include <rtl_time.h>

#include "print.h"

int pillion_create_task(pthread_t *task, void *(*entry)(void *), int stack, int priority)
{
	pthread_attr_t attributes;
	struct sched_param parameters = { .sched_priority = priority };

	pthread_attr_init(&attributes);
	if (stack > RTL_PTHREAD_STACK_MIN)
		pthread_attr_setstacksize(&attributes, (size_t)stack);
	pthread_attr_setschedparam(&attributes, &parameters);
	return pthread_create(task, &attributes, entry, NULL);
}

int rt_set_oneshot_mode(void)
{
	return rtl_setclockmode(rtl_getschedclock(), RTL_CLOCK_MODE_ONESHOT, 0);
}

int rt_set_periodic_mode(RTIME period)
{
	return rtl_setclockmode(rtl_getschedclock(), RTL_CLOCK_MODE_PERIODIC, pillion_ticks_to_ns(period));
}
