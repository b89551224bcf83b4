// SPDX-License-Identifier: GPL-2.0-only
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock.h"

/* Greatest number of a descriptor, plus one. */
#define FILES 4096

static struct primary_file *files[FILES];
static struct primary_queue pollers = PRIMARY_QUEUE_INIT(pollers, true);

bool primary_is_file(int number)
{
	return number >= 0 && number < FILES && __atomic_load_n(&files[number], __ATOMIC_RELAXED);
}

int primary_adopt(struct primary_file *file, const struct primary_file_kind *kind, int number)
{
	struct primary_file *stale;

	if (number >= FILES)
		return -EMFILE;
	file->kind = kind;
	file->references = 1;
	file->number = number;
	link_init(&file->watches);
	primary_lock();
	/* Closed behind this library's back. */
	stale = files[number];
	if (stale) {
		stale->kind->closes(stale);
		primary_put(stale);
	}
	files[number] = file;
	primary_unlock();
	return number;
}

int primary_open(struct primary_file *file, const struct primary_file_kind *kind, int flags)
{
	int number = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | (flags & O_CLOEXEC)), result;

	if (number < 0)
		return -errno;
	file->flags = flags & O_NONBLOCK;
	result = primary_adopt(file, kind, number);
	if (result < 0)
		syscall(SYS_close, number);
	return result;
}

struct primary_file *primary_get(int number, const struct primary_file_kind *kind)
{
	struct primary_file *file = number >= 0 && number < FILES ? files[number] : NULL;

	if (!file || (kind && file->kind != kind))
		return NULL;
	file->references++;
	return file;
}

void primary_put(struct primary_file *file)
{
	if (!--file->references)
		file->kind->ends(file);
}

int primary_close(int number)
{
	struct primary_file *file;

	primary_lock();
	file = number >= 0 && number < FILES ? files[number] : NULL;
	if (file) {
		files[number] = NULL;
		file->kind->closes(file);
		primary_changed(file);
		primary_put(file);
	}
	primary_unlock();
	if (!file)
		return -EBADF;
	return syscall(SYS_close, number) ? -errno : 0;
}

static struct primary_watch *watch_of(struct link *link)
{
	return holder_of(link, struct primary_watch, link);
}

void primary_changed(struct primary_file *file)
{
	for each_link(link, &file->watches) {
		struct primary_wait *wait = watch_of(link)->wait;

		if (!wait->has_ended)
			primary_wake(wait, 0);
	}
}

static int look(struct primary_watch *watches, unsigned int count)
{
	unsigned int i;
	int found = 0;

	for (i = 0; i < count; i++) {
		struct primary_file *file = watches[i].file;

		watches[i].events = file->kind->events(file) & (watches[i].wanted | POLLERR | POLLHUP | POLLNVAL);
		found += !!watches[i].events;
	}
	return found;
}

/* The nanoseconds until a wait ends. */
static int64_t rest(const struct primary_end *end)
{
	if (end->clock == PRIMARY_NEVER)
		return INT64_MAX;
	return end->clock == PRIMARY_AT_ONCE ? 0 : end->ns - primary_now(end->clock);
}

/* The earlier of the end of a wait and the next change of one of the files. */
static struct primary_end earliest(struct primary_watch *watches, unsigned int count, struct primary_end end)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct primary_file *file = watches[i].file;
		struct primary_end change = file->kind->changes ? file->kind->changes(file) : PRIMARY_FOREVER;

		if (rest(&change) < rest(&end))
			end = change;
	}
	return end;
}

struct polling {
	struct primary_watch *watches;
	unsigned int count;
};

static void unwatch(struct polling *polling)
{
	unsigned int i;

	for (i = 0; i < polling->count; i++)
		link_remove(&polling->watches[i].link);
}

static void cancelled(void *polling)
{
	primary_lock();
	unwatch(polling);
	primary_unlock();
}

int primary_poll(struct primary_watch *watches, unsigned int count, struct primary_end end)
{
	struct polling polling = { watches, count };
	int found = 0, error = 0;
	unsigned int i;

	while (!error && !(found = look(watches, count))) {
		struct primary_wait wait = { 0 };

		if (rest(&end) <= 0)
			return 0;
		for (i = 0; i < count; i++) {
			watches[i].wait = &wait;
			link_before(&watches[i].link, &watches[i].file->watches);
		}
		pthread_cleanup_push(cancelled, &polling);
		error = primary_wait(&pollers, &wait, earliest(watches, count, end));
		pthread_cleanup_pop(0);
		unwatch(&polling);
		if (error == -ETIMEDOUT)
			error = 0;
	}
	return error ? error : found;
}
