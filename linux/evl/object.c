// SPDX-License-Identifier: GPL-2.0-only
#include "object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primary/lock.h"
#include "threads.h"

#define MADE 0x65766c31
#define CLOSED 0x65766c32

/* A descriptor that leads to an object. */
struct descriptor {
	struct primary_file file;
	struct evl_object *object;
	struct link link;
};

static const struct primary_file_kind descriptors;

static struct descriptor *descriptor_of(struct primary_file *file)
{
	return holder_of(file, struct descriptor, file);
}

bool evl_clock(int clockfd, clockid_t *clock)
{
	*clock = clockfd == EVL_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	return clockfd == EVL_CLOCK_REALTIME || clockfd == EVL_CLOCK_MONOTONIC;
}

bool evl_end(const struct evl_object *object, const struct timespec *timeout, struct primary_end *end)
{
	int64_t ns = timeout ? primary_ns(timeout) : 0;

	*end = ns ? PRIMARY_UNTIL(object->clock, ns) : PRIMARY_FOREVER;
	return ns >= 0;
}

void evl_put(struct evl_object *object)
{
	if (!--object->references)
		object->kind->ends(object);
}

static unsigned int events(struct primary_file *file)
{
	struct evl_object *object = descriptor_of(file)->object;

	return object->kind->events ? object->kind->events(object) : 0;
}

static struct primary_end changes(struct primary_file *file)
{
	struct evl_object *object = descriptor_of(file)->object;

	return object->kind->changes ? object->kind->changes(object) : PRIMARY_FOREVER;
}

static void closes(struct primary_file *file)
{
	struct descriptor *descriptor = descriptor_of(file);
	struct evl_object *object = descriptor->object;

	link_remove(&descriptor->link);
	if (!link_alone(&object->files))
		return;
	primary_unname(&object->name);
	if (object->kind->closes)
		object->kind->closes(object);
}

static void ends(struct primary_file *file)
{
	struct descriptor *descriptor = descriptor_of(file);

	evl_put(descriptor->object);
	free(descriptor);
}

static const struct primary_file_kind descriptors = {
	.events = events, .changes = changes, .closes = closes, .ends = ends
};

/* A descriptor that does not lead anywhere yet. */
static struct descriptor *make_descriptor(void)
{
	struct descriptor *descriptor = calloc(1, sizeof(*descriptor));

	if (descriptor)
		link_init(&descriptor->link);
	return descriptor;
}

/* The object has a reference for the descriptor already. */
static int lead(struct descriptor *descriptor, struct evl_object *object, int flags, int number)
{
	int open_flags = O_CLOEXEC | (flags & EVL_CLONE_NONBLOCK ? O_NONBLOCK : 0), efd;

	descriptor->object = object;
	descriptor->file.flags = open_flags & O_NONBLOCK;
	if (number < 0)
		efd = primary_open(&descriptor->file, &descriptors, open_flags);
	else
		efd = primary_adopt(&descriptor->file, &descriptors, number);
	if (efd < 0)
		return efd;
	primary_lock();
	link_before(&descriptor->link, &object->files);
	primary_unlock();
	return efd;
}

/* A name from a format, without the slash of a public one. */
static int format_name(char *name, const char *format, va_list arguments)
{
	char text[PRIMARY_NAME_SIZE + 1];
	int size = vsnprintf(text, sizeof(text), format, arguments);
	bool is_public = text[0] == '/';

	if (size < 0 || size - is_public < 1)
		return -EINVAL;
	if (size - is_public >= PRIMARY_NAME_SIZE)
		return -ENAMETOOLONG;
	strcpy(name, text + is_public);
	return 0;
}

static int publish(struct evl_object *object, const struct evl_kind *kind, int flags, int number, const char *name)
{
	struct descriptor *descriptor = make_descriptor();
	int result = 0;

	if (!descriptor)
		return -ENOMEM;
	object->kind = kind;
	object->references = 1;
	link_init(&object->files);
	link_init(&object->name.link);
	primary_lock();
	if (name)
		result = primary_name(&object->name, kind, name);
	primary_unlock();
	if (!result)
		result = lead(descriptor, object, flags, number);
	if (result >= 0)
		return result;
	primary_lock();
	primary_unname(&object->name);
	primary_unlock();
	free(descriptor);
	return result;
}

int evl_publish(struct evl_object *object, const struct evl_kind *kind, int flags, int number, const char *format,
		va_list arguments)
{
	char name[PRIMARY_NAME_SIZE];
	int error = format ? format_name(name, format, arguments) : 0;

	return error ? error : publish(object, kind, flags, number, format ? name : NULL);
}

int evl_publish_anonymous(struct evl_object *object, const struct evl_kind *kind, int flags)
{
	return publish(object, kind, flags, -1, NULL);
}

static void hold(struct evl_element *element, struct evl_object *object, int efd)
{
	element->object = object;
	element->efd = efd;
	__atomic_store_n(&element->state, MADE, __ATOMIC_RELEASE);
}

int evl_give(struct evl_element *element, struct evl_object *object, const struct evl_kind *kind, int flags,
	     const char *format, va_list arguments)
{
	int efd = evl_publish(object, kind, flags, -1, format, arguments);

	if (efd >= 0)
		hold(element, object, efd);
	return efd;
}

int evl_give_static(struct evl_element *element, struct evl_object *object, const struct evl_kind *kind)
{
	const char *name = element->name;
	int efd = publish(object, kind, element->flags, -1, name && name[0] == '/' ? name + 1 : name);

	if (efd >= 0)
		hold(element, object, efd);
	return efd;
}

int evl_open(struct evl_element *element, const struct evl_kind *kind, const char *format, va_list arguments)
{
	struct descriptor *descriptor;
	struct evl_object *object = NULL;
	struct primary_name *found;
	char name[PRIMARY_NAME_SIZE];
	int result = format_name(name, format, arguments);

	if (result)
		return result;
	descriptor = make_descriptor();
	if (!descriptor)
		return -ENOMEM;
	primary_lock();
	found = primary_named(kind, name);
	if (found) {
		object = holder_of(found, struct evl_object, name);
		object->references++;
	}
	primary_unlock();
	result = object ? lead(descriptor, object, 0, -1) : -ENOENT;
	if (result >= 0) {
		hold(element, object, result);
		return result;
	}
	free(descriptor);
	if (object) {
		primary_lock();
		evl_put(object);
		primary_unlock();
	}
	return result;
}

int evl_close(struct evl_element *element, const struct evl_kind *kind)
{
	struct evl_object *object = element->object;

	/* Nobody has used it. */
	if (element->state == EVL_ELEMENT_UNMADE) {
		element->state = CLOSED;
		return 0;
	}
	if (element->state != MADE || object->kind != kind)
		return -EINVAL;
	element->state = CLOSED;
	return primary_close(element->efd);
}

/* Once, whoever comes first. */
static int make(struct evl_element *element, const struct evl_kind *kind)
{
	static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
	int result = 0;

	pthread_mutex_lock(&making);
	if (element->state == EVL_ELEMENT_UNMADE)
		result = kind->make(element);
	pthread_mutex_unlock(&making);
	return result;
}

void *evl_find(struct evl_element *element, const struct evl_kind *kind)
{
	struct evl_object *object;

	if (__atomic_load_n(&element->state, __ATOMIC_ACQUIRE) == EVL_ELEMENT_UNMADE && make(element, kind) < 0)
		return NULL;
	object = element->object;
	return element->state == MADE && object->kind == kind ? object : NULL;
}

void *evl_enter(struct evl_element *element, const struct evl_kind *kind)
{
	struct evl_object *object = evl_find(element, kind);

	if (!object)
		return NULL;
	primary_lock();
	object->references++;
	return object;
}

void *evl_enter_any(int efd, bool *waits)
{
	struct evl_object *object;
	struct primary_file *file;

	primary_lock();
	file = primary_get(efd, &descriptors);
	if (!file) {
		primary_unlock();
		return NULL;
	}
	object = descriptor_of(file)->object;
	object->references++;
	*waits = !file->flags;
	primary_put(file);
	return object;
}

void *evl_enter_file(int efd, const struct evl_kind *kind)
{
	struct evl_object *object;
	bool waits;

	object = evl_enter_any(efd, &waits);
	if (object && object->kind != kind) {
		evl_leave(object, 0);
		return NULL;
	}
	return object;
}

long evl_leave(void *object, long result)
{
	evl_put(object);
	primary_unlock();
	if (evl_current && evl_current->has_slept)
		evl_sleeps();
	return result;
}

void evl_changed(struct evl_object *object)
{
	for each_link(link, &object->files)
		primary_changed(&holder_of(link, struct descriptor, link)->file);
}

void evl_put_cancelled(void *object)
{
	primary_lock();
	evl_put(object);
	primary_unlock();
}

int evl_wait(struct evl_object *object, struct primary_queue *queue, struct primary_wait *wait, struct primary_end end)
{
	int error;

	if (end.clock != PRIMARY_AT_ONCE && evl_current && evl_current->owned)
		evl_current->has_slept = true;
	pthread_cleanup_push(evl_put_cancelled, object);
	error = primary_wait(queue, wait, end);
	pthread_cleanup_pop(0);
	return error == -EWOULDBLOCK ? -EAGAIN : error;
}
