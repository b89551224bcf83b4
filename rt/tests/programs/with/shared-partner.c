/*
 * The other task of shared.c.
 *
 * prints: there: put 5
 * prints: there: sent 0
 * prints: there: the other is done
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <fcntl.h>
#include <mbuff.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>
#include <pillion.h>

static char *buffer;

static void *run(void *unused)
{
	sem_t *ready = sem_open("/ready", O_CREAT, 0600, 0), *done = sem_open("/done", O_CREAT, 0600, 0);
	mqd_t queue;
	int count;

	/* The other task makes the FIFO, whichever starts first. */
	while ((count = rtf_put(9, "hello", 5)) == -EINVAL)
		usleep(1000);
	strcpy(buffer, "written there");
	rtl_printf("there: put %d\n", count);
	queue = mq_open("/shared", O_WRONLY | O_CREAT, 0600, NULL);
	rtl_printf("there: sent %d\n", mq_send(queue, "queued", 6, 3));
	sem_post(ready);
	sem_wait(done);
	rtl_printf("there: the other is done\n");
	mq_close(queue);
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	pthread_t thread;

	buffer = mbuff_alloc("shared", 4096);
	return pthread_create(&thread, NULL, run, NULL);
}

void cleanup_module(void)
{
	mbuff_free("shared", buffer);
}
