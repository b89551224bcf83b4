/*
 * Named semaphores: the same sem_t for each open, waiting, posting, timeouts.
 *
 * prints: missing 1 errno 2
 * prints: made 1, the same 1, exclusive 1 errno 17
 * prints: value 1, taken 0, value 0, more -1 errno 11
 * prints: thread waits
 * prints: thread goes on: 0
 * prints: timed out -1 errno 110
 * prints: closed 0 0, unlinked 0, again -1 errno 2
 */
#include <rtl.h>
#include <time.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rtl_time.h>
#include <semaphore.h>
#include <pillion.h>

static sem_t *semaphore, *same;

static void *run(void *unused)
{
	struct timespec until;
	int result;

	rtl_printf("thread waits\n");
	result = sem_wait(semaphore);
	rtl_printf("thread goes on: %d\n", result);
	clock_gettime(CLOCK_REALTIME, &until);
	timespec_add_ns(&until, 1000000);
	result = sem_timedwait(semaphore, &until);
	rtl_printf("timed out %d errno %d\n", result, errno);
	pillion_unload();
	return NULL;
}

int init_module(void)
{
	pthread_t thread;
	sem_t *none;
	int before, after, taken, result;

	none = sem_open("/test", 0);
	rtl_printf("missing %d errno %d\n", none == SEM_FAILED, errno);
	semaphore = sem_open("/test", O_CREAT, 0600, 1);
	same = sem_open("/test", O_CREAT, 0600, 9);
	none = sem_open("/test", O_CREAT | O_EXCL, 0600, 1);
	rtl_printf("made %d, the same %d, exclusive %d errno %d\n", semaphore != SEM_FAILED, semaphore == same, none == SEM_FAILED, errno);
	sem_getvalue(semaphore, &before);
	taken = sem_wait(semaphore);
	sem_getvalue(semaphore, &after);
	result = sem_trywait(semaphore);
	rtl_printf("value %d, taken %d, value %d, more %d errno %d\n", before, taken, after, result, errno);
	result = pthread_create(&thread, NULL, run, NULL);
	sem_post(same);
	return result;
}

void cleanup_module(void)
{
	int first = sem_close(semaphore), second = sem_close(same), unlinked = sem_unlink("/test"), again = sem_unlink("/test");

	rtl_printf("closed %d %d, unlinked %d, again %d errno %d\n", first, second, unlinked, again, errno);
}
