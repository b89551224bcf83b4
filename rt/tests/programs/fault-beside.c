/*
 * Of three tasks that share a FIFO, a semaphore and a message queue through the broker, this one
 * faults: one of its threads dereferences NULL while another waits for the semaphore. The other two
 * continue: one counts its periods; the other gets the semaphore that the dead task waited for, and
 * the data that it put.
 *
 * channels: shared_fifos = [9]
 * with: fault-beside-counter.c
 * with: fault-beside-waiter.c
 * prints: faults while it waits
 * ends: faulted
 * never: never printed
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t *turn;
static int *nowhere;

/* Its turn comes before the other task's, as it is more urgent, but by then it is dead. */
static void *waits(void *unused)
{
	struct sched_param high = { 100 };

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &high);
	sem_wait(turn);
	rtl_printf("never printed\n");
	return unused;
}

static void *faults(void *unused)
{
	usleep(20000);
	rtf_put(9, "before", 6);
	rtl_printf("faults while it waits\n");
	*(volatile int *)nowhere = 1;
	rtl_printf("never printed\n");
	return unused;
}

int init_module(void)
{
	pthread_t waiter, faulter;

	turn = sem_open("/turn", O_CREAT, 0600, 0);
	pthread_create(&waiter, NULL, waits, NULL);
	return pthread_create(&faulter, NULL, faults, NULL);
}

void cleanup_module(void)
{
}
