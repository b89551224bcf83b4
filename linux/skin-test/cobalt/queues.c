// SPDX-License-Identifier: GPL-2.0-only
/* Message queues: producer and consumer, priorities, times, notification. */
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <signal.h>
#include <stdbool.h>

#include "../check.h"

#define NAME "/numbers"
#define COUNT 500

static void *produces(void *nothing)
{
	mqd_t queue = mq_open(NAME, O_WRONLY);
	int i;

	check(queue != (mqd_t)-1);
	for (i = 1; i <= COUNT; i++)
		check(!mq_send(queue, (char *)&i, sizeof(i), i % 3));
	check(!mq_close(queue));
	return nothing;
}

static void *consumes(void *sum)
{
	mqd_t queue = mq_open(NAME, O_RDONLY);
	int i, number;

	for (i = 0; i < COUNT; i++) {
		check(mq_receive(queue, (char *)&number, sizeof(number), NULL) == sizeof(number));
		*(long *)sum += number;
	}
	check(!mq_close(queue));
	return NULL;
}

static void stream(int producer, int consumer)
{
	pthread_t threads[2];
	long sum = 0;

	threads[0] = start(consumer, consumes, &sum);
	threads[1] = start(producer, produces, NULL);
	pthread_join(threads[1], NULL);
	pthread_join(threads[0], NULL);
	check(sum == COUNT * (COUNT + 1) / 2);
	printf("ok stream %d %d\n", producer, consumer);
}

static void *orders(void *nothing)
{
	struct mq_attr attributes = { .mq_maxmsg = 4, .mq_msgsize = 8 };
	mqd_t queue = mq_open("/order", O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
	struct timespec end;
	char text[8];
	unsigned int priority;

	check(queue != (mqd_t)-1);
	check(mq_open("/order", O_RDWR | O_CREAT | O_EXCL, 0600, NULL) == (mqd_t)-1 && errno == EEXIST);
	check(mq_open("/absent", O_RDWR) == (mqd_t)-1 && errno == ENOENT);
	check(!mq_send(queue, "low", 4, 1) && !mq_send(queue, "high", 5, 9) && !mq_send(queue, "low 2", 6, 1));
	check(mq_send(queue, "123456789", 9, 1) == -1 && errno == EMSGSIZE);
	check(mq_send(queue, "x", 1, MQ_PRIO_MAX) == -1 && errno == EINVAL);
	check(!mq_getattr(queue, &attributes) && attributes.mq_curmsgs == 3 && attributes.mq_maxmsg == 4);
	check(!mq_send(queue, "", 0, 0));
	end = soon(CLOCK_REALTIME, 2 * MS);
	check(mq_timedsend(queue, "full", 5, 1, &end) == -1 && errno == ETIMEDOUT);
	check(mq_receive(queue, text, 7, NULL) == -1 && errno == EMSGSIZE);
	check(mq_receive(queue, text, 8, &priority) == 5 && !strcmp(text, "high") && priority == 9);
	check(mq_receive(queue, text, 8, &priority) == 4 && !strcmp(text, "low") && priority == 1);
	check(mq_receive(queue, text, 8, &priority) == 6 && !strcmp(text, "low 2"));
	check(mq_receive(queue, text, 8, &priority) == 0 && priority == 0);
	end = soon(CLOCK_REALTIME, 2 * MS);
	check(mq_timedreceive(queue, text, 8, NULL, &end) == -1 && errno == ETIMEDOUT);
	attributes.mq_flags = O_NONBLOCK;
	check(!mq_setattr(queue, &attributes, NULL) && mq_receive(queue, text, 8, NULL) == -1 && errno == EAGAIN);
	check(!mq_unlink("/order") && mq_open("/order", O_RDWR) == (mqd_t)-1 && errno == ENOENT);
	/* It lives until it is closed. */
	check(!mq_send(queue, "x", 1, 0) && mq_receive(queue, text, 8, NULL) == 1 && !mq_close(queue));
	check(mq_send(queue, "x", 1, 0) == -1 && errno == EBADF);
	printf("ok orders\n");
	return nothing;
}

static void *is_notified(void *nothing)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1 };
	struct mq_attr attributes = { .mq_maxmsg = 4, .mq_msgsize = 8 };
	mqd_t queue = mq_open("/bell", O_RDWR | O_CREAT, 0600, &attributes);
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	event.sigev_value.sival_int = 42;
	check(!mq_notify(queue, &event));
	check(mq_notify(queue, &event) == -1 && errno == EBUSY);
	check(!mq_send(queue, "a", 1, 0) && !mq_send(queue, "b", 1, 0));
	check(sigwaitinfo(&set, &info) == SIGRTMIN + 1 && info.si_value.sival_int == 42 && info.si_code == SI_MESGQ);
	/* It was for once. */
	check(!mq_notify(queue, &event) && !mq_notify(queue, NULL) && !mq_notify(queue, &event));
	check(!mq_close(queue) && !mq_unlink("/bell"));
	printf("ok notified\n");
	return nothing;
}

static bool is_over;

static void *rings(void *nothing)
{
	mqd_t queue = mq_open("/doors", O_RDWR);
	char text;

	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		check(!mq_send(queue, "x", 1, 0) && mq_receive(queue, &text, 1, NULL) == 1);
		rest(7 * MS / 1000);
	}
	check(!mq_close(queue));
	return nothing;
}

/* A queue is opened and closed while a more urgent thread uses it, at any moment of that. */
static void *opens(void *nothing)
{
	struct mq_attr attributes = { .mq_maxmsg = 4, .mq_msgsize = 1 };
	mqd_t queue = mq_open("/doors", O_RDWR | O_CREAT, 0600, &attributes);
	pthread_t ringer = start(60, rings, NULL);
	int i;

	for (i = 0; i < 200; i++)
		check(!mq_close(mq_open("/doors", O_RDONLY)));
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	pthread_join(ringer, NULL);
	check(!mq_close(queue) && !mq_unlink("/doors"));
	printf("ok opened\n");
	return nothing;
}

int main(void)
{
	struct mq_attr attributes = { .mq_maxmsg = 10, .mq_msgsize = sizeof(int) };
	mqd_t queue;

	queue = mq_open(NAME, O_RDWR | O_CREAT, 0600, &attributes);
	check(queue != (mqd_t)-1);
	stream(50, 60);
	stream(60, 50);
	stream(50, 0);
	check(!mq_close(queue) && !mq_unlink(NAME));
	pthread_join(start(50, orders, NULL), NULL);
	pthread_join(start(50, is_notified, NULL), NULL);
	pthread_join(start(50, opens, NULL), NULL);
	return 0;
}
