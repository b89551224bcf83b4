/*
 * The task of fault-beside.c that waits for the same semaphore as the faulting one, and uses what
 * that one left.
 *
 * prints: waiter: posted after the fault
 * prints: waiter: has the semaphore: 0
 * prints: waiter: got 6 of the FIFO: before
 * prints: waiter: put 5, got 5: after
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include <pillion.h>

static sem_t *turn;

static void *posts(void *unused)
{
	usleep(60000);
	rtl_printf("waiter: posted after the fault\n");
	sem_post(turn);
	return unused;
}

static void *waits(void *unused)
{
	char text[16];
	int got, put, result = sem_wait(turn);

	rtl_printf("waiter: has the semaphore: %d\n", result);
	got = rtf_get(9, text, sizeof(text));
	rtl_printf("waiter: got %d of the FIFO: %.*s\n", got, got, text);
	put = rtf_put(9, "after", 5);
	got = rtf_get(9, text, sizeof(text));
	rtl_printf("waiter: put %d, got %d: %.*s\n", put, got, got, text);
	pillion_unload();
	return unused;
}

int init_module(void)
{
	pthread_t waiter, poster;

	rtf_create(9, 1000);
	turn = sem_open("/turn", O_CREAT, 0600, 0);
	pthread_create(&waiter, NULL, waits, NULL);
	return pthread_create(&poster, NULL, posts, NULL);
}

void cleanup_module(void)
{
	sem_close(turn);
}
