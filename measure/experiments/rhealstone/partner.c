/* The less urgent side of the shuffle between spaces: rhealstone.c waits for what this holds. */
#include <rtl.h>
#include <rtl_sched.h>
#include <fcntl.h>
#include <mbuff.h>
#include <semaphore.h>
#include <pillion.h>

#include "../../include/measure.h"
#include "rhealstone.h"

/* Passed by the script in Linux that starts tasks; this task ends with the other one. */
static int seconds;
MODULE_PARM(seconds, "i");

static pthread_t thread;
static struct shuffle *shuffle;
static sem_t *begin, *asked, *taken;

static void *give(void *unused)
{
	int i;

	sem_wait(begin);
	for (i = 0; i < shuffle->samples; i++) {
		/* The other task runs at once, and waits for what this one holds. */
		sem_post(asked);
		shuffle->from = ticks();
		shuffle->to = ticks();
		sem_post(taken);
	}
	/*
	 * Taking a task down occupies the processor, so it must wait until the other task has
	 * measured everything.
	 */
	sem_wait(begin);
	pillion_unload();
	return unused;
}

int init_module(void)
{
	shuffle = mbuff_alloc(SHUFFLE, sizeof(*shuffle));
	begin = sem_open(SHUFFLE_BEGIN, O_CREAT, 0600, 0);
	asked = sem_open(SHUFFLE_ASKED, O_CREAT, 0600, 0);
	taken = sem_open(SHUFFLE_TAKEN, O_CREAT, 0600, 0);
	if (!shuffle || begin == SEM_FAILED || asked == SEM_FAILED || taken == SEM_FAILED)
		return -ENOMEM;
	return thread_start(&thread, LOW, give, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
	sem_close(taken);
	sem_close(asked);
	sem_close(begin);
	mbuff_free(SHUFFLE, shuffle);
}
