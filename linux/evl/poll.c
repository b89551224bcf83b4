// SPDX-License-Identifier: GPL-2.0-only
/* Sets of descriptors that are waited for. One that is closed is in a set no more. */
#include <errno.h>
#include <evl/evl.h>
#include <stdlib.h>

#include "object.h"
#include "primary/lock.h"
#include "threads.h"

/* Descriptors of a set. */
#define MOST 64

struct entry {
	struct primary_file *file;
	int efd;
	unsigned int events;
	union evl_value value;
};

struct poll {
	struct evl_object object;
	struct entry entries[MOST];
	unsigned int count;
};

static void ends(struct evl_object *object)
{
	struct poll *poll = holder_of(object, struct poll, object);
	unsigned int i;

	for (i = 0; i < poll->count; i++)
		primary_put(poll->entries[i].file);
	free(poll);
}

static const struct evl_kind polls = { .ends = ends };

int evl_new_poll(void)
{
	struct poll *poll;
	int efd;

	evl_init();
	poll = calloc(1, sizeof(*poll));
	if (!poll)
		return -ENOMEM;
	efd = evl_publish_anonymous(&poll->object, &polls, 0);
	if (efd < 0)
		free(poll);
	return efd;
}

static void drop(struct poll *poll, struct entry *entry)
{
	primary_put(entry->file);
	*entry = poll->entries[--poll->count];
}

/* A descriptor's place in a set; NULL: it is not there, is closed, or its number is another's. */
static struct entry *find(struct poll *poll, int efd)
{
	struct primary_file *file;
	unsigned int i;

	for (i = 0; i < poll->count; i++) {
		struct entry *entry = &poll->entries[i];
		bool is_same;

		if (entry->efd != efd)
			continue;
		file = primary_get(efd, NULL);
		is_same = file == entry->file;
		if (file)
			primary_put(file);
		if (is_same)
			return entry;
		drop(poll, entry);
		return NULL;
	}
	return NULL;
}

/* One that can have events. */
static bool can_have_events(int efd)
{
	bool waits, can;
	struct evl_object *object;

	object = evl_enter_any(efd, &waits);
	if (!object)
		return false;
	can = object->kind->events;
	return evl_leave(object, can);
}

static int add(struct poll *poll, int efd, unsigned int events, union evl_value value)
{
	struct primary_file *file;

	if (find(poll, efd))
		return -EEXIST;
	if (poll->count == MOST)
		return -ENOMEM;
	file = primary_get(efd, NULL);
	if (!file)
		return -EBADF;
	poll->entries[poll->count++] = (struct entry){ file, efd, events, value };
	return 0;
}

int evl_add_pollfd(int efd, int newfd, unsigned int events, union evl_value value)
{
	struct poll *poll;

	if (!primary_is_file(newfd))
		return -EBADF;
	if (!can_have_events(newfd))
		return -EPERM;
	poll = evl_enter_file(efd, &polls);
	return poll ? evl_leave(poll, add(poll, newfd, events, value)) : -EBADF;
}

int evl_mod_pollfd(int efd, int modfd, unsigned int events, union evl_value value)
{
	struct poll *poll = evl_enter_file(efd, &polls);
	struct entry *entry;

	if (!poll)
		return -EBADF;
	entry = find(poll, modfd);
	if (!entry)
		return evl_leave(poll, -ENOENT);
	entry->events = events;
	entry->value = value;
	return evl_leave(poll, 0);
}

int evl_del_pollfd(int efd, int delfd)
{
	struct poll *poll = evl_enter_file(efd, &polls);
	struct entry *entry;

	if (!poll)
		return -EBADF;
	entry = find(poll, delfd);
	if (!entry)
		return evl_leave(poll, -ENOENT);
	drop(poll, entry);
	return evl_leave(poll, 0);
}

/* A thread's look at a set: what was in it when it began. */
struct look {
	struct primary_watch watches[MOST];
	struct entry entries[MOST];
	unsigned int count;
	struct poll *poll;
};

static void begin(struct look *look, struct poll *poll)
{
	unsigned int i = 0;

	look->poll = poll;
	look->count = 0;
	while (i < poll->count) {
		struct entry *entry = &poll->entries[i];

		/* It may be another one's then, or nobody's. */
		if (!find(poll, entry->efd))
			continue;
		entry->file->references++;
		look->entries[look->count] = *entry;
		look->watches[look->count++] = (struct primary_watch){ .file = entry->file, .wanted = entry->events };
		i++;
	}
}

static void end(struct look *look)
{
	unsigned int i;

	for (i = 0; i < look->count; i++)
		primary_put(look->entries[i].file);
}

static void cancelled(void *argument)
{
	struct look *look = argument;

	primary_lock();
	end(look);
	evl_put(&look->poll->object);
	primary_unlock();
}

static int tell(const struct look *look, struct evl_poll_event *pollset, int room)
{
	unsigned int i;
	int count = 0;

	for (i = 0; i < look->count && count < room; i++)
		if (look->watches[i].events)
			pollset[count++] = (struct evl_poll_event){
				look->entries[i].efd, look->watches[i].events, look->entries[i].value
			};
	return count;
}

static int wait_for(struct poll *poll, struct evl_poll_event *pollset, int room, struct primary_end until)
{
	struct look look;
	int result;

	begin(&look, poll);
	pthread_cleanup_push(cancelled, &look);
	result = primary_poll(look.watches, look.count, until);
	pthread_cleanup_pop(0);
	if (result > 0)
		result = tell(&look, pollset, room);
	else if (!result)
		result = -ETIMEDOUT;
	end(&look);
	return evl_leave(poll, result);
}

int evl_timedpoll(int efd, struct evl_poll_event *pollset, int nrset, const struct timespec *timeout)
{
	struct primary_end until;
	struct poll *poll;

	if (nrset < 1)
		return -EINVAL;
	if (!evl_current)
		return -EPERM;
	poll = evl_enter_file(efd, &polls);
	if (!poll)
		return -EBADF;
	poll->object.clock = CLOCK_MONOTONIC;
	if (!evl_end(&poll->object, timeout, &until))
		return evl_leave(poll, -EINVAL);
	return wait_for(poll, pollset, nrset, until);
}

int evl_poll(int efd, struct evl_poll_event *pollset, int nrset)
{
	return evl_timedpoll(efd, pollset, nrset, NULL);
}
