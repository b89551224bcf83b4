/*
 * A task that threads in primary mode meet, for `./x test dual-names`: it does what a board in
 * shared memory says, each time that it is given a turn, and gives one back.
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <fcntl.h>
#include <mbuff.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <errno.h>
#include <linux/module.h>

#include "names.h"

static volatile struct board *board;
static sem_t *to_task, *to_process;
static mqd_t requests, answers;

/* Posts a semaphore that a process made. */
static int post_made(int count)
{
	sem_t *made = sem_open("/made", 0);

	if (!made)
		return -errno;
	while (count--)
		sem_post(made);
	return sem_close(made);
}

/* Answers a message with the same text and one priority more. */
static int answer_message(void)
{
	char text[MESSAGE];
	unsigned int priority;
	int size = mq_receive(requests, text, sizeof(text), &priority);

	if (size < 0)
		return -errno;
	return mq_send(answers, text, size, priority + 1) ? -errno : size;
}

static void *serve(void *unused)
{
	for (;;) {
		sem_wait(to_task);
		switch (board->command) {
		case COMMAND_ADD:
			board->result = board->argument + 1;
			break;
		case COMMAND_POST:
			board->result = post_made(board->argument);
			break;
		case COMMAND_MESSAGE:
			board->result = answer_message();
			break;
		}
		sem_post(to_process);
	}
	return NULL;
}

int init_module(void)
{
	struct mq_attr shape = { .mq_maxmsg = 4, .mq_msgsize = MESSAGE };
	struct sched_param parameters = { .sched_priority = 10 };
	pthread_attr_t attributes;
	pthread_t thread;

	board = mbuff_alloc("board", sizeof(*board));
	to_task = sem_open("/to-task", O_CREAT, 0600, 0);
	to_process = sem_open("/to-process", O_CREAT, 0600, 0);
	requests = mq_open("/requests", O_RDWR | O_CREAT, 0600, &shape);
	answers = mq_open("/answers", O_RDWR | O_CREAT, 0600, &shape);
	if (!board || !to_task || !to_process || requests < 0 || answers < 0)
		return -ENOMEM;
	pthread_attr_init(&attributes);
	pthread_attr_setschedparam(&attributes, &parameters);
	return pthread_create(&thread, &attributes, serve, NULL);
}

void cleanup_module(void)
{
	mbuff_free("board", (void *)board);
}
