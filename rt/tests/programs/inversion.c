/*
 * Priority inversion: with a plain mutex, the middle thread (m) delays the urgent one (h) that
 * waits for a lock of the less urgent one (l); with a ceiling it does not.
 *
 * prints: plain 0: lhmMuHL
 * prints: ceiling 0: luhHmML
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <pillion.h>

#include "start.h"

static pthread_mutex_t mutex;
static char order[16];
static int marks;

static void mark(char letter)
{
	order[marks++] = letter;
}

static void *low(void *arg)
{
	pthread_mutex_lock(&mutex);
	mark('l');
	rtl_delay(3000000);
	mark('u');
	pthread_mutex_unlock(&mutex);
	mark('L');
	return NULL;
}

static void *middle(void *arg)
{
	usleep(1000);
	mark('m');
	rtl_delay(5000000);
	mark('M');
	return NULL;
}

static void *high(void *arg)
{
	usleep(500);
	mark('h');
	pthread_mutex_lock(&mutex);
	mark('H');
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void try(const char *what, int protocol)
{
	void *(*bodies[])(void *) = { high, middle, low };
	pthread_mutexattr_t kind;
	pthread_t threads[3];
	int i, status;

	marks = 0;
	memset(order, 0, sizeof(order));
	pthread_mutexattr_init(&kind);
	status = pthread_mutexattr_setprotocol(&kind, protocol);
	pthread_mutexattr_setprioceiling(&kind, 30);
	pthread_mutex_init(&mutex, &kind);
	for (i = 0; i < 3; i++)
		start(&threads[i], 30 - 10 * i, bodies[i], NULL);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&mutex);
	rtl_printf("%s %d: %s\n", what, status, order);
}

int init_module(void)
{
	try("plain", PTHREAD_PRIO_NONE);
	try("ceiling", PTHREAD_PRIO_PROTECT);
	pillion_unload();
	return 0;
}

void cleanup_module(void)
{
}
