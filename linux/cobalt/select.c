// SPDX-License-Identifier: GPL-2.0-only
/* Waiting for one of several descriptors: of this library's, of Linux's, or of both. */
#include <poll.h>
#include <sys/select.h>
#include <sys/time.h>

#include "internal.h"
#include "primary/file.h"
#include "primary/lock.h"

/* Who waits for descriptors of both kinds looks at those of Linux's that often. */
#define PAUSE_NS 10000000L

static bool is_in(int number, const fd_set *set)
{
	return set && FD_ISSET(number, set);
}

static unsigned int wanted(int number, const fd_set *readable, const fd_set *writable, const fd_set *exceptional)
{
	return (is_in(number, readable) ? POLLIN : 0) | (is_in(number, writable) ? POLLOUT : 0) |
	       (is_in(number, exceptional) ? POLLPRI : 0);
}

/* How many descriptors of the sets are this library's; says whether others are as well. */
static int count_own(int count, const fd_set *readable, const fd_set *writable, const fd_set *exceptional, bool *others)
{
	int own = 0, i;

	*others = false;
	for (i = 0; i < count; i++) {
		if (!wanted(i, readable, writable, exceptional))
			continue;
		if (primary_is_file(i))
			own++;
		else
			*others = true;
	}
	return own;
}

static void put(struct primary_watch *watches, int count)
{
	while (count--)
		primary_put(watches[count].file);
}

/* Looks up the files; a smaller number than expected: one was closed meanwhile. */
static int get(struct primary_watch *watches, int expected, int count, const fd_set *readable, const fd_set *writable,
	       const fd_set *exceptional)
{
	int found = 0, i;

	for (i = 0; i < count && found < expected; i++) {
		struct primary_watch *watch = &watches[found];

		watch->wanted = wanted(i, readable, writable, exceptional);
		if (!watch->wanted)
			continue;
		watch->file = primary_get(i, NULL);
		if (!watch->file)
			break;
		found++;
	}
	return found;
}

static int tell(const struct primary_watch *watches, int count, fd_set *readable, fd_set *writable, fd_set *exceptional)
{
	fd_set *sets[] = { readable, writable, exceptional };
	/* As for Linux's files, an error is something to read and room to write. */
	static const unsigned int bits[] = { POLLIN | POLLHUP | POLLERR, POLLOUT | POLLERR, POLLPRI };
	static const unsigned int asks[] = { POLLIN, POLLOUT, POLLPRI };
	int found = 0, i, j;

	for (j = 0; j < 3; j++) {
		if (!sets[j])
			continue;
		FD_ZERO(sets[j]);
		for (i = 0; i < count; i++)
			if (watches[i].wanted & asks[j] && watches[i].events & bits[j]) {
				FD_SET(watches[i].file->number, sets[j]);
				found++;
			}
	}
	return found;
}

static void cancelled(void *watches)
{
	struct primary_watch *watch;

	primary_lock();
	for (watch = watches; watch->file; watch++)
		primary_put(watch->file);
	primary_unlock();
}

static int poll_own(int own, int count, fd_set *readable, fd_set *writable, fd_set *exceptional, struct primary_end end)
{
	struct primary_watch watches[own + 1];
	int found, result = -EBADF;

	primary_lock();
	found = get(watches, own, count, readable, writable, exceptional);
	watches[found].file = NULL;
	if (found == own) {
		pthread_cleanup_push(cancelled, watches);
		result = primary_poll(watches, own, end);
		pthread_cleanup_pop(0);
	}
	if (result >= 0)
		result = tell(watches, own, readable, writable, exceptional);
	put(watches, found);
	primary_unlock();
	return result;
}

/* The descriptors of a set that are this library's, or the others. */
static fd_set *divide(const fd_set *from, fd_set *to, int count, bool own)
{
	int i;

	if (!from)
		return NULL;
	FD_ZERO(to);
	for (i = 0; i < count; i++)
		if (FD_ISSET(i, from) && primary_is_file(i) == own)
			FD_SET(i, to);
	return to;
}

static bool is_over(struct primary_end end)
{
	return end.clock != PRIMARY_NEVER && end.ns <= primary_now(end.clock);
}

int __real_select(int count, fd_set *readable, fd_set *writable, fd_set *exceptional, struct timeval *timeout);

/* The thread waits for those of this library's, and looks at Linux's in between. */
static int poll_both(int own, int count, fd_set *sets[3], struct primary_end end)
{
	fd_set rooms[6], *ours[3], *others[3];
	struct timeval at_once;
	struct primary_end pause;
	int found, found_others, i, j;

	for (;;) {
		for (i = 0; i < 3; i++) {
			ours[i] = divide(sets[i], &rooms[i], count, true);
			others[i] = divide(sets[i], &rooms[3 + i], count, false);
		}
		found = poll_own(own, count, ours[0], ours[1], ours[2], PRIMARY_TRY);
		if (found < 0)
			return found;
		at_once = (struct timeval){ 0 };
		found_others = __real_select(count, others[0], others[1], others[2], &at_once);
		if (found_others < 0)
			return -errno;
		if (found + found_others || is_over(end))
			break;
		for (i = 0; i < 3; i++)
			ours[i] = divide(sets[i], &rooms[i], count, true);
		pause = PRIMARY_UNTIL(CLOCK_MONOTONIC, primary_now(CLOCK_MONOTONIC) + PAUSE_NS);
		if (end.clock != PRIMARY_NEVER && end.ns < pause.ns)
			pause = end;
		found = poll_own(own, count, ours[0], ours[1], ours[2], pause);
		if (found < 0)
			return found;
	}
	for (i = 0; i < 3; i++)
		for (j = 0; sets[i] && j < count; j++)
			if (!FD_ISSET(j, ours[i]) && !FD_ISSET(j, others[i]))
				FD_CLR(j, sets[i]);
	return found + found_others;
}

WRAP(int, select, int count, fd_set *readable, fd_set *writable, fd_set *exceptional, struct timeval *timeout)
{
	fd_set *sets[] = { readable, writable, exceptional };
	struct primary_end end = PRIMARY_FOREVER;
	int own, result;
	bool others;

	if (count < 0 || count > FD_SETSIZE)
		return cobalt_told(-EINVAL);
	own = count_own(count, readable, writable, exceptional, &others);
	if (!own)
		return __real_select(count, readable, writable, exceptional, timeout);
	if (timeout && (timeout->tv_sec < 0 || timeout->tv_usec < 0 || timeout->tv_usec >= 1000000))
		return cobalt_told(-EINVAL);
	if (timeout) {
		struct timespec rest = { timeout->tv_sec, timeout->tv_usec * 1000 };

		end = PRIMARY_UNTIL(CLOCK_MONOTONIC, primary_later(CLOCK_MONOTONIC, primary_ns(&rest)));
	}
	if (others)
		result = poll_both(own, count, sets, end);
	else
		result = poll_own(own, count, readable, writable, exceptional, end);
	/* As Linux does, it says how much time is left. */
	if (timeout) {
		int64_t rest = end.ns - primary_now(CLOCK_MONOTONIC);

		rest = rest > 0 ? rest : 0;
		*timeout = (struct timeval){ rest / PRIMARY_SECOND, rest % PRIMARY_SECOND / 1000 };
	}
	return cobalt_told(result);
}
