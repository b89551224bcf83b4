/*
 * mq_notify: one signal to the thread that asked for it when a message arrives in the empty queue.
 *
 * prints: bad signal -1 errno 22
 * prints: asked 0, again -1 errno 16
 * prints: signal 8
 * prints: suspended until -1 errno 4, handled 1
 * prints: only once: 1
 */
#include <rtl.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include <pillion.h>

static mqd_t queue;
static int handled;

static void handler(int signal)
{
	handled++;
	rtl_printf("signal %d\n", signal);
}

static void *send(void *unused)
{
	char text[256];

	usleep(1000);
	mq_send(queue, "a", 1, 0);
	usleep(1000);
	mq_receive(queue, text, sizeof(text), NULL);
	mq_send(queue, "b", 1, 0);
	usleep(1000);
	rtl_printf("only once: %d\n", handled);
	pillion_unload();
	return NULL;
}

static void *wait(void *unused)
{
	struct sigaction action = { 0 };
	struct sigevent event = { 0 };
	sigset_t none = 0;
	int first, result;

	action.sa_handler = handler;
	sigaction(RTL_SIGUSR2, &action, NULL);
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = 3;
	result = mq_notify(queue, &event);
	rtl_printf("bad signal %d errno %d\n", result, errno);
	event.sigev_signo = RTL_SIGUSR2;
	first = mq_notify(queue, &event);
	result = mq_notify(queue, &event);
	rtl_printf("asked %d, again %d errno %d\n", first, result, errno);
	result = sigsuspend(&none);
	rtl_printf("suspended until %d errno %d, handled %d\n", result, errno, handled);
	return NULL;
}

int init_module(void)
{
	pthread_t thread;

	queue = mq_open("/notice", O_RDWR | O_CREAT, 0600, NULL);
	pthread_create(&thread, NULL, wait, NULL);
	return pthread_create(&thread, NULL, send, NULL);
}

void cleanup_module(void)
{
	mq_close(queue);
	mq_unlink("/notice");
}
