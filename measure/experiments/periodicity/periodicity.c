/*
 * Triggers two tasks (triggered.c) in turn, every 100 us, and reports the time from each activation
 * to the next, whichever task it is.
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <fcntl.h>
#include <mbuff.h>
#include <semaphore.h>
#include <pillion.h>

#include "../../include/measure.h"
#include "periodicity.h"

/* Number of activations reported individually. */
#define SHOWN 2000

static int seconds = 1;
MODULE_PARM(seconds, "i");

static pthread_t thread;
static struct activations *activations;
static sem_t *triggers[2];

static struct point list[SHOWN];
static struct points shown = POINTS(list);
static struct histogram period, deviation;

static int count(void)
{
	return seconds * (1000000000 / PERIOD);
}

static void trigger(void)
{
	int i;

	pthread_make_periodic_np(pthread_self(), clock_gethrtime(CLOCK_RTL_SCHED) + 100 * PERIOD, PERIOD);
	for (i = 0; i < count(); i++) {
		pthread_wait_np();
		activations->is_pulled = 1;
		sem_post(triggers[i % 2]);
		activations->is_pulled = 0;
	}
	/* The last one has run, too, so both may end now. */
	pthread_wait_np();
	sem_post(triggers[0]);
	sem_post(triggers[1]);
	pthread_make_periodic_np(pthread_self(), HRTIME_INFINITY, 0);
}

static void look(void)
{
	long long time;
	int i, missing = 0;

	for (i = 1; i < count(); i++) {
		if (!activations->at[i - 1] || !activations->at[i]) {
			missing++;
			continue;
		}
		time = activations->at[i] - activations->at[i - 1];
		histogram_add(&period, time);
		histogram_add(&deviation, time < PERIOD ? PERIOD - time : time - PERIOD);
		if (i < SHOWN)
			points_add(&shown, i, time);
	}
	line_say("figure period_lost %d 1", missing);
	if (activations->late)
		line_invalid("%d activations came after the timer's thread had gone on: it is not the less urgent one", activations->late);
}

static void *work(void *unused)
{
	trigger();
	look();
	histogram_tell(&period, "period", "ns");
	histogram_tell(&deviation, "deviation", "ns");
	points_tell(&shown, "activation", "1 us");
	pillion_unload();
	return unused;
}

int init_module(void)
{
	if (seconds < 1 || count() > ACTIVATIONS)
		return -EINVAL;
	activations = mbuff_alloc(BUFFER, sizeof(*activations));
	triggers[0] = sem_open(FIRST, O_CREAT, 0600, 0);
	triggers[1] = sem_open(SECOND, O_CREAT, 0600, 0);
	if (!activations || triggers[0] == SEM_FAILED || triggers[1] == SEM_FAILED)
		return -ENOMEM;
	return thread_start(&thread, TIMER_PRIORITY, work, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
	sem_close(triggers[0]);
	sem_close(triggers[1]);
	mbuff_free(BUFFER, activations);
}
