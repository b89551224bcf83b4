/* Threads of several priorities that work together, run by the less urgent main thread. */
#ifndef MEASURE_TEAM_H
#define MEASURE_TEAM_H

#include <semaphore.h>

#include "thread.h"

#define TEAM_MOST 4
/* More urgent than any member. */
#define TEAM_FIRST 120

struct member {
	int priority;
	void *(*work)(void *);
};

static sem_t team_gate;

static void *team_enter(void *work)
{
	sem_wait(&team_gate);
	return ((void *(*)(void *))work)(NULL);
}

static void *team_open_gate(void *count)
{
	long i;

	for (i = 0; i < (long)count; i++)
		sem_post(&team_gate);
	return NULL;
}

/*
 * Runs members until all have returned: the most urgent one first, among equals the first. Each
 * would run as soon as it is created, so they wait at a gate until all exist.
 */
static inline void team_run(const struct member *members, long count)
{
	pthread_t threads[TEAM_MOST + 1];
	long i;

	sem_init(&team_gate, 1, 0);
	for (i = 0; i < count; i++)
		thread_start(&threads[i], members[i].priority, team_enter, members[i].work);
	thread_start(&threads[count], TEAM_FIRST, team_open_gate, (void *)count);
	for (i = 0; i <= count; i++)
		pthread_join(threads[i], NULL);
	sem_destroy(&team_gate);
}

#define TEAM_RUN(...) team_run((const struct member[]){ __VA_ARGS__ }, \
			       sizeof((const struct member[]){ __VA_ARGS__ }) / sizeof(struct member))

#endif
