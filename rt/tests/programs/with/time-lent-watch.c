/*
 * The task of time-lent.c that asks the broker every 250 microseconds, and counts how often its two
 * requests took longer than they can take plus one request of another task.
 *
 * task: priority = 150
 * prints: watch: 2000 requests, 0 late
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pthread.h>
#include <semaphore.h>
#include <fcntl.h>
#include <pillion.h>

#define PERIOD 250000
#define LATE 60000

static void *watches(void *unused)
{
	sem_t *own = sem_open("/time-lent-watch", O_CREAT, 0600, 0);
	hrtime_t before;
	int i, late = 0;

	pthread_make_periodic_np(pthread_self(), gethrtime() + PERIOD, PERIOD);
	for (i = 0; i < 2000; i++) {
		pthread_wait_np();
		before = gethrtime();
		sem_post(own);
		sem_trywait(own);
		late += gethrtime() - before > LATE;
	}
	rtl_printf("watch: %d requests, %d late\n", i, late);
	pillion_unload();
	return unused;
}

int init_module(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, watches, NULL);
}

void cleanup_module(void)
{
}
