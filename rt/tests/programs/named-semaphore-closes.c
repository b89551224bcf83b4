/*
 * A named semaphore is closed while many threads have been handed it and have not run yet: the
 * broker takes several steps for that, and nothing is lost.
 *
 * prints: posted 20, closed 0, value 20
 * prints: 20 threads got errno 9
 * task: threads = 24
 */
#include <rtl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rtl_time.h>
#include <semaphore.h>
#include <pillion.h>

#include "start.h"

#define THREADS 20

static sem_t *semaphore;
static int failed;

static void *waits(void *unused)
{
	if (sem_wait(semaphore) == -1 && errno == EBADF)
		failed++;
	return unused;
}

static void *closes(void *unused)
{
	int posted, closed, value;

	usleep(5000);
	for (posted = 0; posted < THREADS && sem_post(semaphore) == 0; posted++)
		;
	closed = sem_close(semaphore);
	semaphore = sem_open("/closes", 0);
	sem_getvalue(semaphore, &value);
	rtl_printf("posted %d, closed %d, value %d\n", posted, closed, value);
	usleep(5000);
	rtl_printf("%d threads got errno %d\n", failed, EBADF);
	pillion_unload();
	return unused;
}

int init_module(void)
{
	pthread_t thread;
	int i, result = start(&thread, 20, closes, NULL);

	semaphore = sem_open("/closes", O_CREAT, 0600, 0);
	for (i = 0; i < THREADS && result == 0; i++)
		result = start(&thread, 10, waits, NULL);
	return result;
}

void cleanup_module(void)
{
	sem_close(semaphore);
	sem_unlink("/closes");
}
