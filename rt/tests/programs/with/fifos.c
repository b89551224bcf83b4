/*
 * A task that shares FIFOs with threads in primary mode, for `./x test dual-fifos`: it echoes
 * messages, sends records, and checks those that it gets.
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <rtl_sched.h>
#include <pthread.h>
#include <errno.h>
#include <linux/module.h>

#include "fifos.h"

#define PERIOD_NS 200000

static struct message told;
static unsigned int next, last;

static void serve_requests(void)
{
	struct message message;

	if (rtf_get(FIFO_REQUESTS, &message, sizeof(message)) != sizeof(message))
		return;
	switch (message.command) {
	case COMMAND_SEND:
		next = 1;
		last = message.count[0];
		break;
	case COMMAND_TELL:
		told.command = COMMAND_TELL;
		message = told;
		told = (struct message){ 0 };
		break;
	}
	rtf_put(FIFO_ANSWERS, &message, sizeof(message));
}

/* As many as there is room for. */
static void send_records(void)
{
	struct record record;

	for (; next && next <= last; next++) {
		fill(&record, next, 0);
		if (rtf_put(FIFO_RECORDS, &record, sizeof(record)) != sizeof(record))
			return;
	}
}

static void take_records(void)
{
	struct record record;
	int size;

	while ((size = rtf_get(FIFO_TAKEN, &record, sizeof(record))) > 0) {
		if (size != sizeof(record) || !is_whole(&record) || record.writer >= WRITERS ||
		    record.number != told.count[record.writer] + 1)
			told.wrong++;
		else
			told.count[record.writer]++;
	}
}

static void *serve(void *unused)
{
	pthread_make_periodic_np(pthread_self(), gethrtime(), PERIOD_NS);
	for (;;) {
		pthread_wait_np();
		serve_requests();
		send_records();
		take_records();
	}
	return NULL;
}

static int handled(unsigned int fifo)
{
	return 0;
}

int init_module(void)
{
	struct sched_param parameters = { .sched_priority = 10 };
	pthread_attr_t attributes;
	pthread_t thread;

	if (rtf_create(FIFO_REQUESTS, FIFO_BYTES) || rtf_create(FIFO_ANSWERS, FIFO_BYTES) ||
	    rtf_create(FIFO_RECORDS, RECORDS * sizeof(struct record)) ||
	    rtf_create(FIFO_TAKEN, RECORDS * sizeof(struct record)) || rtf_create(FIFO_IDLE, FIFO_BYTES) ||
	    rtf_create(FIFO_HANDLED, FIFO_BYTES) || rtf_create_handler(FIFO_HANDLED, handled))
		return -ENOMEM;
	pthread_attr_init(&attributes);
	pthread_attr_setschedparam(&attributes, &parameters);
	return pthread_create(&thread, &attributes, serve, NULL);
}

void cleanup_module(void)
{
	int fifo;

	for (fifo = FIFO_REQUESTS; fifo <= FIFO_HANDLED; fifo++)
		rtf_destroy(fifo);
}
