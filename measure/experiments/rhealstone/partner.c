/*
 * The less urgent side of the semaphore shuffle between two address spaces: rhealstone.c waits for
 * what this task has.
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <fcntl.h>
#include <mbuff.h>
#include <semaphore.h>
#include <pillion.h>

#include "../../include/measure.h"
#include "rhealstone.h"

/* Said by what starts tasks in Linux; this one ends with the other. */
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
		/* The other one runs at once, and waits for what this one has. */
		sem_post(asked);
		shuffle->from = ticks();
		shuffle->to = ticks();
		sem_post(taken);
	}
	/* To take a task down keeps the processor: not before the other one has measured everything. */
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
