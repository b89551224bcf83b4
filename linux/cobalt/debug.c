// SPDX-License-Identifier: GPL-2.0-only
#include "debug.h"

#include <pthread.h>
#include <signal.h>

#include "primary/call.h"
#include "primary/wait.h"
#include "thread.h"

#define KEEPS_LOCK (PTHREAD_LOCK_SCHED | PTHREAD_DISABLE_LOCKBREAK)

__thread unsigned int cobalt_owned;

__thread int cobalt_modes;

static void tell(int reason)
{
	if (cobalt_modes & PTHREAD_WARNSW)
		primary_debug(reason);
}

bool cobalt_keeps_lock(void)
{
	return (cobalt_modes & KEEPS_LOCK) == KEEPS_LOCK;
}

void cobalt_breaks_lock(void)
{
	tell(SIGDEBUG_LOCK_BREAK);
}

/* A wait for a mutex does not get here. */
static int sleeps(void)
{
	if (cobalt_owned)
		tell(SIGDEBUG_MUTEX_SLEEP);
	if (!cobalt_keeps_lock())
		return 0;
	cobalt_breaks_lock();
	return -EINTR;
}

void cobalt_set_modes(int modes)
{
	cobalt_modes = modes;
	primary_sleeps = modes & PTHREAD_WARNSW || cobalt_keeps_lock() ? sleeps : NULL;
}

int cobalt_unlocked(int error)
{
	if (!error && cobalt_owned)
		cobalt_owned--;
	if (error == EPERM && !cobalt_is_urgent(primary_self()->policy))
		tell(SIGDEBUG_RESCNT_IMBALANCE);
	return error;
}

unsigned int cobalt_give_up(unsigned int locks)
{
	if (locks > cobalt_owned)
		locks = cobalt_owned;
	cobalt_owned -= locks;
	return locks;
}

/* A child made by `fork` is told of nothing, and its mutexes are made anew. */
static void child(void)
{
	cobalt_set_modes(0);
	cobalt_owned = 0;
}

__attribute__((constructor(102))) static void begin(void)
{
	pthread_atfork(NULL, NULL, child);
}
