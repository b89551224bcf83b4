/* Thread creation and time, common to the programs of all experiments. */
#ifndef MEASURE_THREAD_H
#define MEASURE_THREAD_H

#include <pthread.h>
#include <rtl_sched.h>
#include <rtl_time.h>

/* The time-stamp counter; in counted time, 1 tick is 1 ns and one executed instruction. */
static inline unsigned long long ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* Creates a real-time thread; returns a result for init_module. */
static inline int thread_start(pthread_t *thread, int priority, void *(*work)(void *), void *argument)
{
	struct sched_param urgency = { .sched_priority = priority };
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setschedparam(&attributes, &urgency);
	return -pthread_create(thread, &attributes, work, argument);
}

#endif
