/* One of the two tasks: waits for its semaphore repeatedly, and records when it was activated. */
#include <rtl.h>
#include <rtl_sched.h>
#include <fcntl.h>
#include <mbuff.h>
#include <semaphore.h>
#include <pillion.h>

#include "../../include/measure.h"
#include "periodicity.h"

/* 0 for the first task, 1 for the second. */
static int which;
MODULE_PARM(which, "i");
static int seconds = 1;
MODULE_PARM(seconds, "i");

static pthread_t thread;
static struct activations *activations;
static sem_t *trigger;

static void *work(void *unused)
{
	int i, count = seconds * (1000000000 / PERIOD);

	for (i = which; i < count; i += 2) {
		sem_wait(trigger);
		activations->at[i] = clock_gethrtime(CLOCK_RTL_SCHED);
		if (!activations->is_pulled)
			activations->late++;
	}
	/*
	 * Taking a task down occupies the processor, so it must wait for the other task's last
	 * activation.
	 */
	sem_wait(trigger);
	pillion_unload();
	return unused;
}

int init_module(void)
{
	if (seconds < 1 || seconds * (1000000000 / PERIOD) > ACTIVATIONS)
		return -EINVAL;
	activations = mbuff_alloc(BUFFER, sizeof(*activations));
	trigger = sem_open(which ? SECOND : FIRST, O_CREAT, 0600, 0);
	if (!activations || trigger == SEM_FAILED)
		return -ENOMEM;
	return thread_start(&thread, TASK_PRIORITY, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
	sem_close(trigger);
	mbuff_free(BUFFER, activations);
}
