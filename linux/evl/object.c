// SPDX-License-Identifier: GPL-2.0-only
#include "object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primary/call.h"
#include "primary/lock.h"
#include "primary/shared.h"
#include "threads.h"

#define MADE 0x65766c31
#define CLOSED 0x65766c32

/* Where primary mode has the names of public elements. */
#define FOLDER "evl"
/* Who polls an object that processes share looks at it that often. */
#define PAUSE_NS 1000000L

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

/* One that processes share keeps its name as long: who opens it meanwhile gets the same. */
void evl_put(struct evl_object *object)
{
	uint32_t shared = object->shared;

	if (--object->references)
		return;
	primary_unname(&object->name);
	object->kind->ends(object);
	if (shared)
		primary_shared_close(shared);
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
	if (!object->shared)
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

/* A name, and whether it is public: then there was a slash in front of it, or a flag says so. */
struct name {
	char text[PRIMARY_NAME_SIZE];
	bool is_public;
};

static int take_name(struct name *name, const char *text, int flags)
{
	bool has_slash = text[0] == '/';

	if (!text[has_slash])
		return -EINVAL;
	if (strlen(text + has_slash) >= sizeof(name->text))
		return -ENAMETOOLONG;
	strcpy(name->text, text + has_slash);
	name->is_public = has_slash || flags & EVL_CLONE_PUBLIC;
	return 0;
}

static int format_name(struct name *name, int flags, const char *format, va_list arguments)
{
	char text[PRIMARY_NAME_SIZE + 2];

	return vsnprintf(text, sizeof(text), format, arguments) < 0 ? -EINVAL : take_name(name, text, flags);
}

/* Held while an object gets its name: it is looked for and made, or opened, in one. */
static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER;

/* Has other processes share an object, if primary mode has one of that kind, and room for it. */
static int share(struct evl_object *object, const struct name *name)
{
	struct pillion_dual_open open;
	long shared;

	/* Who opens it does not know another clock. */
	if (!name->is_public || !object->kind->shared_kind || object->shared || object->clock != CLOCK_MONOTONIC ||
	    !primary_is_there() ||
	    primary_shared_state(&open, object->kind->shared_kind, object->shared_flags, FOLDER, strlen(FOLDER), name->text))
		return 0;
	shared = primary_shared_make(&open, object->shared_value);
	if (shared == -EEXIST || shared == -EACCES || shared == -EPERM)
		return shared;
	if (shared < 0)
		return 0;
	object->shared = shared;
	if (object->kind->shares)
		object->kind->shares(object);
	return 0;
}

/* The caller holds `naming` if there is a name. */
static int make_known(struct evl_object *object, const struct evl_kind *kind, int flags, int number, const struct name *name)
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
		result = primary_name(&object->name, kind, name->text);
	primary_unlock();
	if (!result && name)
		result = share(object, name);
	if (!result)
		result = lead(descriptor, object, flags, number);
	if (result >= 0)
		return result;
	if (object->shared)
		primary_shared_close(object->shared);
	object->shared = 0;
	primary_lock();
	primary_unname(&object->name);
	primary_unlock();
	free(descriptor);
	return result;
}

static int publish(struct evl_object *object, const struct evl_kind *kind, int flags, int number, const struct name *name)
{
	int result;

	pthread_mutex_lock(&naming);
	result = make_known(object, kind, flags, number, name);
	pthread_mutex_unlock(&naming);
	return result;
}

int evl_publish(struct evl_object *object, const struct evl_kind *kind, int flags, int number, const char *format,
		va_list arguments)
{
	struct name name;
	int error = format ? format_name(&name, flags, format, arguments) : 0;

	return error ? error : publish(object, kind, flags, number, format ? &name : NULL);
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
	struct name name;
	int efd = element->name ? take_name(&name, element->name, element->flags) : 0;

	if (!efd)
		efd = publish(object, kind, element->flags, -1, element->name ? &name : NULL);
	if (efd >= 0)
		hold(element, object, efd);
	return efd;
}

/* Another descriptor for what this process has by a name. */
static int open_own(struct evl_object **opened, const struct evl_kind *kind, const struct name *name)
{
	struct descriptor *descriptor = make_descriptor();
	struct evl_object *object = NULL;
	struct primary_name *found;
	int result;

	if (!descriptor)
		return -ENOMEM;
	primary_lock();
	found = primary_named(kind, name->text);
	if (found) {
		object = *opened = holder_of(found, struct evl_object, name);
		object->references++;
	}
	primary_unlock();
	result = object ? lead(descriptor, object, 0, -1) : -ENOENT;
	if (result >= 0)
		return result;
	free(descriptor);
	if (object) {
		primary_lock();
		evl_put(object);
		primary_unlock();
	}
	return result;
}

/* What another process has made, for which this process makes an object. */
static int open_shared(struct evl_object **opened, const struct evl_kind *kind, const struct name *name)
{
	struct pillion_dual_open open;
	struct evl_object *object;
	long shared;
	int result;

	if (primary_shared_state(&open, kind->shared_kind, 0, FOLDER, strlen(FOLDER), name->text))
		return -ENOENT;
	shared = primary_shared_open(&open);
	if (shared < 0)
		return shared;
	result = kind->make_shared(&object);
	if (result) {
		primary_shared_close(shared);
		return result;
	}
	object->shared = shared;
	if (kind->shares)
		kind->shares(object);
	result = make_known(object, kind, 0, -1, name);
	if (result < 0)
		kind->ends(object);
	*opened = object;
	return result;
}

int evl_open(struct evl_element *element, const struct evl_kind *kind, const char *format, va_list arguments)
{
	struct evl_object *object = NULL;
	struct name name;
	int result = format_name(&name, 0, format, arguments);

	if (result)
		return result;
	evl_init();
	pthread_mutex_lock(&naming);
	result = open_own(&object, kind, &name);
	if (result == -ENOENT && kind->shared_kind && primary_is_there())
		result = open_shared(&object, kind, &name);
	pthread_mutex_unlock(&naming);
	if (result >= 0)
		hold(element, object, result);
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

struct primary_end evl_looks_again(struct evl_object *object)
{
	if (!object->shared)
		return PRIMARY_FOREVER;
	return PRIMARY_UNTIL(CLOCK_MONOTONIC, primary_now(CLOCK_MONOTONIC) + PAUSE_NS);
}

static long take_shared(struct evl_object *object, uint64_t wanted, struct primary_end end)
{
	return wanted ? primary_take_flags(object->shared, wanted, end) : primary_take(object->shared, end);
}

long evl_wait_shared(struct evl_object *object, uint64_t wanted, struct primary_end end)
{
	bool may_be_told = end.clock != PRIMARY_AT_ONCE && evl_current && evl_current->owned;
	long result;

	primary_unlock();
	pthread_cleanup_push(evl_put_cancelled, object);
	/* Whether it has to sleep is seen before. */
	result = take_shared(object, wanted, may_be_told ? PRIMARY_TRY : end);
	if (may_be_told && result == -EAGAIN) {
		evl_current->has_slept = true;
		result = take_shared(object, wanted, end);
	}
	pthread_cleanup_pop(0);
	primary_lock();
	return result;
}
