/*
 * Threads of one task on two processors: each runs where its attributes say, and one without
 * attributes where its creator is. They take a mutex, post semaphores, switch interrupts off, and
 * stop each other, at the same time.
 *
 * run: --cpus 2
 * task: cpus = [0, 1]
 * task: threads = 10
 * prints: processor 2 is not this task's: name it in cpus of this task in the system file
 * prints: on 0, exists 1 1 0, of 2; attributes: 0, set 0 0 22, then 1
 * prints: a thread runs on 1, by its processor 1, and new attributes say 1
 * prints: counted 2000 and 2000, 0 at once, 0 lost
 * prints: 500 turns, 0 out of order
 * prints: suspended: 20 times, 0 times it ran on
 * prints: ended: 20 of 20
 */
#include <rtl.h>
#include <rtl_core.h>
#include <rtl_sched.h>
#include <rtl_sync.h>
#include <rtl_time.h>
#include <pthread.h>
#include <semaphore.h>
#include <pillion.h>
#include "with/processors.h"

#define ROUNDS 2000
#define TURNS 500

static pthread_mutex_t mutex;
static sem_t turn[2], done;
static unsigned int first_apic_id;
static volatile int guarded, inside, at_once, counted[2], order, wrong, attribute = -1, thread_on = -1, other_apic;
static volatile unsigned long ticks;

static void *where(void *unused)
{
	pthread_attr_t attr;
	int cpu;

	pthread_attr_init(&attr);
	pthread_attr_getcpu_np(&attr, &cpu);
	attribute = cpu;
	thread_on = rtl_getcpuid();
	other_apic = apic_id() != first_apic_id;
	sem_post(&done);
	return NULL;
}

/* With a mutex, and within it with interrupts off. */
static void *count(void *number)
{
	int me = (long)number, n;
	rtl_irqstate_t flags;

	for (n = 0; n < ROUNDS; n++) {
		pthread_mutex_lock(&mutex);
		at_once += inside++ != 0;
		counted[me]++;
		rtl_no_interrupts(flags);
		guarded++;
		rtl_restore_interrupts(flags);
		inside--;
		pthread_mutex_unlock(&mutex);
		if (n % 64 == me * 32)
			usleep(20);
	}
	sem_post(&done);
	return NULL;
}

static void *take_turns(void *number)
{
	int me = (long)number, n;

	for (n = 0; n < TURNS; n++) {
		sem_wait(&turn[me]);
		wrong += order++ != 2 * n + me;
		sem_post(&turn[!me]);
	}
	sem_post(&done);
	return NULL;
}

static void *tick(void *unused)
{
	for (;;) {
		ticks++;
		if (ticks % 1000 == 0)
			rtl_delay(100);
	}
	return NULL;
}

static void both(void *(*f)(void *))
{
	pthread_t threads[2];
	long i;

	for (i = 0; i < 2; i++)
		start_on(&threads[i], i, 10, f, (void *)i);
	for (i = 0; i < 2; i++)
		sem_wait(&done);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void *story(void *unused)
{
	pthread_t thread;
	unsigned long then;
	int n, ran = 0, ended = 0;

	start_on(&thread, 1, 10, where, NULL);
	sem_wait(&done);
	pthread_join(thread, NULL);
	rtl_printf("a thread runs on %d, by its processor %d, and new attributes say %d\n", thread_on, other_apic, attribute);
	both(count);
	rtl_printf("counted %d and %d, %d at once, %d lost\n", counted[0], counted[1], at_once, 2 * ROUNDS - guarded);
	sem_post(&turn[0]);
	both(take_turns);
	rtl_printf("%d turns, %d out of order\n", TURNS, wrong);
	start_on(&thread, 1, 5, tick, NULL);
	for (n = 0; n < 20; n++) {
		usleep(100);
		pthread_suspend_np(thread);
		usleep(10);
		then = ticks;
		usleep(50);
		ran += ticks != then;
		pthread_wakeup_np(thread);
		then = ticks;
		usleep(50);
		ran += ticks == then;
	}
	rtl_printf("suspended: %d times, %d times it ran on\n", n, ran);
	pthread_delete_np(thread);
	for (n = 0; n < 20; n++) {
		start_on(&thread, 1, 5, tick, NULL);
		usleep(100 + n);
		pthread_cancel(thread);
		ended += pthread_delete_np(thread) == 0;
	}
	rtl_printf("ended: %d of %d\n", ended, n);
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	int cpu, now, a, b, c;

	pthread_mutex_init(&mutex, NULL);
	sem_init(&turn[0], 0, 0);
	sem_init(&turn[1], 0, 0);
	sem_init(&done, 0, 0);
	first_apic_id = apic_id();
	pthread_attr_init(&attr);
	pthread_attr_getcpu_np(&attr, &cpu);
	a = pthread_attr_setcpu_np(&attr, 0);
	b = pthread_attr_setcpu_np(&attr, 1);
	c = pthread_attr_setcpu_np(&attr, 2);
	pthread_attr_getcpu_np(&attr, &now);
	rtl_printf("on %d, exists %d %d %d, of %d; attributes: %d, set %d %d %d, then %d\n", rtl_getcpuid(),
		rtl_cpu_exists(0), rtl_cpu_exists(1), rtl_cpu_exists(2), rtl_num_cpus(), cpu, a, b, c, now);
	return start_on(&thread, 0, 20, story, NULL);
}

void cleanup_module(void)
{
}
