/*
 * A handler of rtf_create_rt_handler runs after each put and get that succeeds, in the calling
 * thread; a get from an empty FIFO succeeds too.
 *
 * prints: without a FIFO -22, without a handler -22, made 0
 * prints: handler of 5 in the caller's thread: 1
 * prints: put 3
 * prints: handler of 5 in the caller's thread: 1
 * prints: get 3
 * prints: put of too much -28
 */
#include <rtl.h>
#include <rtl_fifo.h>
#include <pthread.h>
#include <pillion.h>

static pthread_t thread;

static int handler(unsigned int fifo)
{
	rtl_printf("handler of %u in the caller's thread: %d\n", fifo, pthread_self() == thread);
	return 0;
}

static void *run(void *unused)
{
	char text[8];

	thread = pthread_self();
	rtl_printf("put %d\n", rtf_put(5, "abc", 3));
	rtl_printf("get %d\n", rtf_get(5, text, 8));
	rtl_printf("put of too much %d\n", rtf_put(5, "0123456789", 10));
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	pthread_t created;
	int missing = rtf_create_rt_handler(5, handler), none;

	rtf_create(5, 8);
	none = rtf_create_rt_handler(5, NULL);
	rtl_printf("without a FIFO %d, without a handler %d, made %d\n", missing, none, rtf_create_rt_handler(5, handler));
	return pthread_create(&created, NULL, run, NULL);
}

void cleanup_module(void)
{
	rtf_destroy(5);
}
