// SPDX-License-Identifier: GPL-2.0-only
/* Groups of event flags. */
#include <errno.h>
#include <sys/cobalt.h>

#include "internal.h"

int cobalt_event_init(cobalt_event_t *event, unsigned int value, int flags)
{
	if (!cobalt_is_there())
		return -ENOSYS;
	/* Waiters are served by priority, and are of one process. */
	if (flags != COBALT_EVENT_PRIO)
		return -EINVAL;
	event->handle = 0;
	return -cobalt_make(&event->handle, PILLION_DUAL_OBJECT_FLAGS, value, 0);
}

int cobalt_event_post(cobalt_event_t *event, unsigned int bits)
{
	return COBALT_CALL(FLAGS_SET, event->handle, bits, 0, 0);
}

int cobalt_event_wait(cobalt_event_t *event, unsigned int bits, unsigned int *bits_r, int mode,
		      const struct timespec *timeout)
{
	uint64_t clock = PILLION_DUAL_SERVICE_FOREVER, any;
	int64_t ns = 0;
	long result;

	if (timeout) {
		bool is_try = !timeout->tv_sec && !timeout->tv_nsec;

		ns = cobalt_ns(timeout);
		clock = is_try ? PILLION_DUAL_SERVICE_TRY : CLOCK_REALTIME;
	}
	if (ns < 0)
		return -EINVAL;
	any = mode & COBALT_EVENT_ANY ? PILLION_DUAL_SERVICE_ANY : 0;
	result = COBALT_CALL(FLAGS_WAIT, event->handle, bits | any, clock, ns);
	if (result < 0)
		return result;
	if (bits_r)
		*bits_r = result;
	return 0;
}

unsigned long cobalt_event_clear(cobalt_event_t *event, unsigned int bits)
{
	return COBALT_CALL(FLAGS_CLEAR, event->handle, bits, 0, 0);
}

int cobalt_event_destroy(cobalt_event_t *event)
{
	return COBALT_CALL(DESTROY, event->handle, 1, 0, 0);
}
