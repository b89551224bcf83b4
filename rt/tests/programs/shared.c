/*
 * Two tasks share a FIFO, a semaphore, a message queue and a buffer by name.
 *
 * channels: shared_fifos = [9]
 * with: shared-partner.c
 * prints: here: created 0, handler -22
 * prints: here: waits for the other
 * prints: here: buffer says written there
 * prints: here: got 5 of the FIFO: hello
 * prints: here: received 6 of priority 3: queued
 * prints: here: answered 0
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <fcntl.h>
#include <mbuff.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <pillion.h>

static sem_t *ready, *done;
static mqd_t queue;
static char *buffer;

static int handler(unsigned int fifo)
{
	return 0;
}

static void *run(void *unused)
{
	char text[256];
	unsigned int priority;
	int count;

	rtl_printf("here: waits for the other\n");
	sem_wait(ready);
	rtl_printf("here: buffer says %s\n", buffer);
	count = rtf_get(9, text, sizeof(text));
	rtl_printf("here: got %d of the FIFO: %.*s\n", count, count, text);
	count = mq_receive(queue, text, sizeof(text), &priority);
	rtl_printf("here: received %d of priority %u: %.*s\n", count, priority, count, text);
	rtl_printf("here: answered %d\n", sem_post(done));
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	pthread_t thread;
	int result = rtf_create(9, 1000);

	rtl_printf("here: created %d, handler %d\n", result, rtf_create_handler(9, handler));
	buffer = mbuff_alloc("shared", 4096);
	queue = mq_open("/shared", O_RDONLY | O_CREAT, 0600, NULL);
	done = sem_open("/done", O_CREAT, 0600, 0);
	ready = sem_open("/ready", O_CREAT, 0600, 0);
	return pthread_create(&thread, NULL, run, NULL);
}

void cleanup_module(void)
{
	sem_close(ready);
	sem_close(done);
	mq_close(queue);
	mbuff_free("shared", buffer);
}
