/*
 * The other task of across.c.
 *
 * task: cpu = 2
 * prints: there: 100 turns, 0 out of order
 * prints: there: sent 64 messages
 * prints: there: put 300 bytes
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <fcntl.h>
#include <mbuff.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include <pillion.h>
#include "across.h"

static volatile int *turn;

static void turns(sem_t *mine, sem_t *other)
{
	int n, wrong = 0;

	for (n = 0; n < TURNS; n++) {
		wrong += *turn != 2 * n;
		*turn = 2 * n + 1;
		sem_post(other);
		sem_wait(mine);
	}
	rtl_printf("there: %d turns, %d out of order\n", n, wrong);
}

static void *run(void *unused)
{
	sem_t *mine, *other;
	unsigned char byte;
	mqd_t queue;
	int n;

	/* The other task makes them, whichever starts first. */
	while ((other = sem_open("/here", 0)) == SEM_FAILED)
		usleep(1000);
	mine = sem_open("/there", 0);
	turns(mine, other);
	queue = mq_open("/numbers", O_WRONLY);
	for (n = 0; n < MESSAGES; n++)
		mq_send(queue, (char *)&n, sizeof(n), 3);
	rtl_printf("there: sent %d messages\n", n);
	for (n = 0; n < BYTES; n++) {
		byte = n;
		rtf_put(9, &byte, 1);
	}
	rtl_printf("there: put %d bytes\n", n);
	sem_wait(mine);
	mq_close(queue);
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	pthread_t thread;

	turn = mbuff_alloc("turn", 4096);
	return pthread_create(&thread, NULL, run, NULL);
}

void cleanup_module(void)
{
	mbuff_free("turn", (void *)turn);
}
