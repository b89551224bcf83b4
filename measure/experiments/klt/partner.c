/*
 * Keeps the broker busy: sends a long message whenever klt.c posts. It is a task of its own,
 * because threads of one task do not interrupt each other while one of them calls the broker.
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <fcntl.h>
#include <mbuff.h>
#include <mqueue.h>
#include <semaphore.h>
#include <pillion.h>

#include "../../include/measure.h"
#include "klt.h"

/* Passed by the script in Linux that starts tasks; this task ends with the other one. */
static int seconds;
MODULE_PARM(seconds, "i");

static pthread_t thread;
static struct shared *shared;
static sem_t *begin;
static mqd_t queue;

static void *keep_busy(void *unused)
{
	static char message[MESSAGE];

	for (sem_wait(begin); !shared->is_over; sem_wait(begin)) {
		shared->began = ticks();
		mq_send(queue, message, MESSAGE, 0);
	}
	pillion_unload();
	return unused;
}

int init_module(void)
{
	struct mq_attr attributes = { .mq_maxmsg = 2, .mq_msgsize = MESSAGE };

	shared = mbuff_alloc(SHARED, sizeof(*shared));
	begin = sem_open(PARTNER_BEGIN, O_CREAT, 0600, 0);
	queue = mq_open(LOW_QUEUE, O_RDWR | O_CREAT, 0600, &attributes);
	if (!shared || begin == SEM_FAILED || queue == (mqd_t)-1)
		return -ENOMEM;
	return thread_start(&thread, PARTNER_PRIORITY, keep_busy, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
	mq_close(queue);
	sem_close(begin);
	mbuff_free(SHARED, shared);
}
