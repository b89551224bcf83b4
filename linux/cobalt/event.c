// SPDX-License-Identifier: GPL-2.0-only
/* Groups of event flags. */
#include <stdlib.h>
#include <sys/cobalt.h>

#include "internal.h"
#include "primary/lock.h"
#include "primary/wait.h"

struct cobalt_event_state {
	struct primary_queue waiters;
	unsigned int value;
	int flags;
};

/* What a thread waits for. */
struct wish {
	struct cobalt_event_state *state;
	unsigned int bits;
	bool any;
};

int cobalt_event_init(cobalt_event_t *event, unsigned int value, int flags)
{
	struct cobalt_event_state *state;

	/* Waiters are of one process. */
	if (flags & ~COBALT_EVENT_PRIO)
		return -EINVAL;
	state = malloc(sizeof(*state));
	if (!state)
		return -ENOMEM;
	primary_queue_init(&state->waiters, flags & COBALT_EVENT_PRIO);
	state->value = value;
	state->flags = flags;
	event->state = state;
	return 0;
}

/* The bits that end a wait; 0: none do. */
static unsigned int found(unsigned int value, const struct wish *wish)
{
	unsigned int set = value & wish->bits;

	return wish->any || set == wish->bits ? set : 0;
}

/* Whether a thread has what it waits for. */
static bool has_all(struct primary_wait *wait)
{
	struct wish *wish = wait->data;

	wait->value = found(wish->state->value, wish);
	return wait->value;
}

int cobalt_event_post(cobalt_event_t *event, unsigned int bits)
{
	primary_lock();
	event->state->value |= bits;
	primary_wake_some(&event->state->waiters, has_all);
	primary_unlock();
	return 0;
}

int cobalt_event_wait(cobalt_event_t *event, unsigned int bits, unsigned int *bits_r, int mode,
		      const struct timespec *timeout)
{
	struct cobalt_event_state *state = event->state;
	struct wish wish = { state, bits, mode & COBALT_EVENT_ANY };
	struct primary_wait wait = { .data = &wish };
	struct primary_end end = PRIMARY_FOREVER;
	int result = 0;

	if (timeout && primary_ns(timeout) < 0)
		return -EINVAL;
	if (timeout)
		end = primary_ns(timeout) ? PRIMARY_UNTIL(CLOCK_MONOTONIC, primary_ns(timeout)) : PRIMARY_TRY;
	primary_lock();
	/* Asked for no bits, it tells those that are set. */
	wait.value = bits ? found(state->value, &wish) : state->value;
	if (bits && !wait.value)
		result = primary_wait(&state->waiters, &wait, end);
	primary_unlock();
	if (!result && bits_r)
		*bits_r = wait.value;
	return result;
}

unsigned long cobalt_event_clear(cobalt_event_t *event, unsigned int bits)
{
	unsigned int before;

	primary_lock();
	before = event->state->value;
	event->state->value &= ~bits;
	primary_unlock();
	return before;
}

int cobalt_event_inquire(cobalt_event_t *event, struct cobalt_event_info *info, pid_t *waiters, size_t size)
{
	struct cobalt_event_state *state = event->state;
	int count;

	primary_lock();
	info->value = state->value;
	info->flags = state->flags;
	info->nr_wait = primary_count(&state->waiters);
	count = primary_list(&state->waiters, waiters, size / sizeof(pid_t));
	primary_unlock();
	return count;
}

int cobalt_event_destroy(cobalt_event_t *event)
{
	struct cobalt_event_state *state = event->state;

	primary_lock();
	primary_wake_all(&state->waiters, -EIDRM);
	event->state = NULL;
	primary_unlock();
	free(state);
	return 0;
}
