/*
 * A program with may_end_system ends the system: no task runs after that. A status other than 0
 * makes the run's status `failed`. The program beside it lacks the permission and is refused.
 *
 * task: may_end_system = true
 * with: end-refused
 * prints: ends the system
 * never: "status":"ok"
 */
#include <linux/module.h>
#include <pthread.h>
#include <rtl.h>
#include <unistd.h>
#include <pillion.h>

static pthread_t thread;

static void *ends(void *arg)
{
	/* By then the other program has been refused. */
	usleep(100000);
	rtl_printf("ends the system\n");
	pillion_end_system(1);
	rtl_printf("it goes on\n");
	return NULL;
}

int init_module(void)
{
	return pthread_create(&thread, NULL, ends, NULL);
}

void cleanup_module(void)
{
	rtl_printf("cleanup_module\n");
}
