/* The cost of synchronisation in a task: a free mutex, and waking a thread through a semaphore. */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pthread.h>
#include <semaphore.h>
#include <pillion.h>

#include "figure.h"

#define SAMPLES 2000

static pthread_t threads[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static struct series lock, post, wake;
static volatile unsigned long long posted;

static void *urgent(void *unused)
{
	for (;;) {
		sem_wait(&semaphore);
		series_add(&wake, ticks() - posted);
	}
	return unused;
}

static void measure_mutex(void)
{
	unsigned long long start;
	int i;

	for (i = 0; i < SAMPLES; i++) {
		start = ticks();
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		series_add(&lock, ticks() - start);
	}
	figure_tell(&lock, "rt_mutex");
}

static void measure_semaphore(void)
{
	sem_t nobodys;
	unsigned long long start;
	int i;

	sem_init(&nobodys, 1, 0);
	for (i = 0; i < SAMPLES; i++) {
		posted = ticks();
		sem_post(&semaphore);
		start = ticks();
		sem_post(&nobodys);
		series_add(&post, ticks() - start);
	}
	figure_tell(&wake, "rt_sem_wake");
	figure_tell(&post, "rt_sem_post");
}

static void *measure(void *unused)
{
	usleep(1000);
	measure_mutex();
	measure_semaphore();
	pillion_unload();
	return unused;
}

int init_module(void)
{
	sem_init(&semaphore, 1, 0);
	return thread_start(&threads[0], 20, urgent, NULL) ?: thread_start(&threads[1], 10, measure, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(threads[0]);
	pthread_delete_np(threads[1]);
}
