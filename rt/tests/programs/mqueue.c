/*
 * A message queue: priorities, blocking both ways, timeouts, attributes and errors.
 *
 * prints: missing -1 errno 2
 * prints: attributes 2 8 0
 * prints: full: -1 errno 11
 * prints: too long -1 errno 90, bad priority -1 errno 22
 * prints: received 3 bytes of priority 5: two
 * prints: received 3 bytes of priority 1: one
 * prints: empty: -1 errno 11
 * prints: receiver waits
 * prints: receiver got hello of 31
 * prints: timed out -1 errno 110
 * prints: not open -1 errno 9
 */
#include <rtl.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <rtl_time.h>
#include <pillion.h>

static mqd_t queue;

static void *receive(void *unused)
{
	struct timespec until;
	char text[8];
	unsigned int priority = 99;
	mqd_t own = mq_open("/test", O_RDONLY);
	int result;

	rtl_printf("receiver waits\n");
	result = mq_receive(own, text, sizeof(text), &priority);
	rtl_printf("receiver got %.*s of %u\n", result, text, priority);
	clock_gettime(CLOCK_REALTIME, &until);
	timespec_add_ns(&until, 1000000);
	result = mq_timedreceive(own, text, sizeof(text), NULL, &until);
	rtl_printf("timed out %d errno %d\n", result, errno);
	mq_close(own);
	result = mq_receive(own, text, sizeof(text), NULL);
	rtl_printf("not open %d errno %d\n", result, errno);
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	struct mq_attr attributes = { 0, 2, 8, 0 };
	pthread_t thread;
	char text[8];
	unsigned int priority;
	int result, i;

	result = mq_open("/test", O_RDWR);
	rtl_printf("missing %d errno %d\n", result, errno);
	queue = mq_open("/test", O_RDWR | O_CREAT | O_NONBLOCK, 0600, &attributes);
	mq_getattr(queue, &attributes);
	rtl_printf("attributes %ld %ld %ld\n", attributes.mq_maxmsg, attributes.mq_msgsize, attributes.mq_curmsgs);
	mq_send(queue, "one", 3, 1);
	mq_send(queue, "two", 3, 5);
	result = mq_send(queue, "three", 5, 2);
	rtl_printf("full: %d errno %d\n", result, errno);
	result = mq_send(queue, "123456789", 9, 2);
	rtl_printf("too long %d errno %d, ", result, errno);
	result = mq_send(queue, "x", 1, 32);
	rtl_printf("bad priority %d errno %d\n", result, errno);
	for (i = 0; i < 2; i++) {
		result = mq_receive(queue, text, sizeof(text), &priority);
		rtl_printf("received %d bytes of priority %u: %.3s\n", result, priority, text);
	}
	result = mq_receive(queue, text, sizeof(text), &priority);
	rtl_printf("empty: %d errno %d\n", result, errno);
	result = pthread_create(&thread, NULL, receive, NULL);
	mq_send(queue, "hello", 5, 31);
	return result;
}

void cleanup_module(void)
{
	mq_close(queue);
	mq_unlink("/test");
}
