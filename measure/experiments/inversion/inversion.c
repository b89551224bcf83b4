/*
 * Priority inversion: how long the high thread waits for a mutex that the low one holds, depending
 * on how long the medium one computes.
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_sched.h>
#include <pthread.h>
#include <semaphore.h>
#include <pillion.h>

#include "../../include/measure.h"
#include "../../include/measure/team.h"

#define HIGH 50
#define MEDIUM 40
#define LOW 30

/* How long the low thread computes while it holds the mutex. */
#define CRITICAL_NS 5000
/* Step of the medium thread's computing time. */
#define STEP_US 100
#define STEPS 20

static int rounds = 20;
MODULE_PARM(rounds, "i");

static pthread_t teller;
static pthread_mutex_t mutex;
static sem_t high_begins, medium_begins;
static volatile unsigned long long asked;
static unsigned long long medium_ns;
static struct series waited;

static void compute(unsigned long long ns)
{
	unsigned long long start = ticks();

	while (ticks() - start < ns)
		;
}

static void *high(void *unused)
{
	int i;

	for (i = 0; i < rounds; i++) {
		sem_wait(&high_begins);
		sem_post(&medium_begins);
		pthread_mutex_lock(&mutex);
		series_add(&waited, ticks() - asked);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void *medium(void *unused)
{
	int i;

	for (i = 0; i < rounds; i++) {
		sem_wait(&medium_begins);
		compute(medium_ns);
	}
	return unused;
}

static void *low(void *unused)
{
	int i;

	for (i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		asked = ticks();
		sem_post(&high_begins);
		compute(CRITICAL_NS);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

/* A curve: the medium thread's computing time, and the longest wait of the high thread. */
struct curve {
	const char *name;
	int protocol;
	struct points points;
	struct series all;
};

static struct point places[3][STEPS + 1];
static struct curve curves[] = {
	{ "none", PTHREAD_PRIO_NONE, POINTS(places[0]) },
	{ "inherit", PTHREAD_PRIO_INHERIT, POINTS(places[1]) },
	{ "protect", PTHREAD_PRIO_PROTECT, POINTS(places[2]) },
};

static void measure(struct curve *curve)
{
	pthread_mutexattr_t kind;
	int step;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setprotocol(&kind, curve->protocol);
	pthread_mutexattr_setprioceiling(&kind, HIGH);
	pthread_mutex_init(&mutex, &kind);
	for (step = 0; step <= STEPS; step++) {
		memset(&waited, 0, sizeof(waited));
		medium_ns = step * STEP_US * 1000ULL;
		TEAM_RUN({ HIGH, high }, { MEDIUM, medium }, { LOW, low });
		points_add(&curve->points, step * STEP_US, waited.most);
		series_add(&curve->all, waited.most);
	}
	pthread_mutex_destroy(&mutex);
}

static void *tell_all(void *unused)
{
	char name[32];
	int i;

	for (i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "wait_%s", curves[i].name);
		points_tell(&curves[i].points, name, "us us");
		/* How much the longest computation of the medium thread lengthens the wait. */
		line_say("figure inversion_%s %lld ns", curves[i].name, curves[i].all.most - curves[i].all.least);
		line_say("figure wait_%s_max %llu ns", curves[i].name, curves[i].all.most);
	}
	pillion_unload();
	return unused;
}

int init_module(void)
{
	int i;

	sem_init(&high_begins, 1, 0);
	sem_init(&medium_begins, 1, 0);
	for (i = 0; i < 3; i++)
		measure(&curves[i]);
	return thread_start(&teller, HIGH, tell_all, NULL);
}

void cleanup_module(void)
{
	pthread_join(teller, NULL);
}
