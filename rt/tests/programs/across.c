/*
 * Two tasks, each on a processor of its own, use what the broker keeps on the first one: semaphores
 * and a message queue that both wait for in turn, a FIFO and a buffer. Judged by content and order.
 *
 * run: --cpus 3
 * task: cpu = 1
 * channels: shared_fifos = [9]
 * with: across-partner.c
 * prints: here: 100 turns, 0 out of order
 * prints: here: received 64 messages, 0 out of order
 * prints: here: got 300 bytes of the FIFO, 0 out of order
 * prints: here: nobody posts: 110
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <rtl_time.h>
#include <errno.h>
#include <fcntl.h>
#include <mbuff.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>
#include <pillion.h>
#include "with/across.h"

static sem_t *mine, *other;
static mqd_t queue;
static volatile int *turn;

static void turns(void)
{
	int n, wrong = 0;

	for (n = 0; n < TURNS; n++) {
		sem_wait(mine);
		wrong += *turn != 2 * n + 1;
		*turn = 2 * n + 2;
		sem_post(other);
	}
	rtl_printf("here: %d turns, %d out of order\n", n, wrong);
}

static void messages(void)
{
	int n, number, wrong = 0;

	for (n = 0; n < MESSAGES; n++)
		wrong += mq_receive(queue, (char *)&number, sizeof(number), NULL) != sizeof(number) || number != n;
	rtl_printf("here: received %d messages, %d out of order\n", n, wrong);
}

static void bytes(void)
{
	unsigned char data[100];
	int n = 0, wrong = 0, got, i;

	while (n < BYTES) {
		got = rtf_get(9, data, sizeof(data));
		if (got <= 0)
			usleep(100);
		for (i = 0; i < got; i++)
			wrong += data[i] != (unsigned char)n++;
	}
	rtl_printf("here: got %d bytes of the FIFO, %d out of order\n", n, wrong);
}

static void *run(void *unused)
{
	struct timespec until;

	turns();
	messages();
	bytes();
	clock_gettime(CLOCK_REALTIME, &until);
	timespec_add_ns(&until, 1000000);
	sem_timedwait(mine, &until);
	rtl_printf("here: nobody posts: %d\n", errno);
	sem_post(other);
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	struct mq_attr few = { .mq_maxmsg = 4, .mq_msgsize = sizeof(int) };
	pthread_t thread;

	rtf_create(9, BYTES);
	turn = mbuff_alloc("turn", 4096);
	queue = mq_open("/numbers", O_RDONLY | O_CREAT, 0600, &few);
	other = sem_open("/there", O_CREAT, 0600, 0);
	mine = sem_open("/here", O_CREAT, 0600, 0);
	return pthread_create(&thread, NULL, run, NULL);
}

void cleanup_module(void)
{
	sem_close(mine);
	sem_close(other);
	mq_close(queue);
	mbuff_free("turn", (void *)turn);
}
