/* SPDX-License-Identifier: GPL-2.0-only */
/* What all of EVL's objects have: descriptors that lead to them, a name, and users. */
#ifndef EVL_OBJECT_H
#define EVL_OBJECT_H

#include <evl/factory.h>
#include <stdarg.h>
#include <stdbool.h>

#include "primary/file.h"
#include "primary/name.h"
#include "primary/wait.h"

struct evl_object;

/*
 * What can be done with an object, under the lock. NULL: it cannot be done, or there is nothing to
 * do. Results are a number, or the negative number of an error.
 */
struct evl_kind {
	unsigned int (*events)(struct evl_object *object);
	struct primary_end (*changes)(struct evl_object *object);
	ssize_t (*read)(struct evl_object *object, void *buffer, size_t size, bool waits);
	ssize_t (*write)(struct evl_object *object, const void *buffer, size_t size, bool waits);
	/* No descriptor leads to it any more: those that wait for it are to be woken. */
	void (*closes)(struct evl_object *object);
	/* Nobody uses it any more. */
	void (*ends)(struct evl_object *object);
	/* Makes one for an element that was statically initialised; without the lock. */
	int (*make)(struct evl_element *element);
	/* Public ones are objects of primary mode, PILLION_DUAL_OBJECT_...; 0: they are not. */
	uint32_t shared_kind;
	/* Makes what this process has of one that another process made. Returns 0 or an error. */
	int (*make_shared)(struct evl_object **made);
	/* The object has got one of primary mode. NULL: there is nothing to do. */
	void (*shares)(struct evl_object *object);
};

/* A part of each object. */
struct evl_object {
	const struct evl_kind *kind;
	struct primary_name name;
	/* Descriptors. */
	struct link files;
	/* One for each descriptor, and one for each operation. */
	unsigned int references;
	clockid_t clock;
	/* Primary mode's, which other processes have as well; 0: it is this process's alone. */
	uint32_t shared;
	/* What such a one is made with. */
	uint32_t shared_flags;
	uint64_t shared_value;
};

/* The clock of a number. Returns false: there is none. */
bool evl_clock(int clockfd, clockid_t *clock);
/* When a wait ends; a time of 0, or NULL: never. Returns false if it is no time. */
bool evl_end(const struct evl_object *object, const struct timespec *timeout, struct primary_end *end);

/*
 * Makes an object known by a descriptor, and by its name unless the format is NULL. The number is
 * that of a descriptor of Linux's, or negative. Returns the descriptor, or an error: then the
 * object is still the caller's.
 */
int evl_publish(struct evl_object *object, const struct evl_kind *kind, int flags, int number, const char *format,
		va_list arguments);
/* The same without a name, and with a descriptor of the library's. */
int evl_publish_anonymous(struct evl_object *object, const struct evl_kind *kind, int flags);
/* The same as the first for an element, which then has the object. */
int evl_give(struct evl_element *element, struct evl_object *object, const struct evl_kind *kind, int flags,
	     const char *format, va_list arguments);
/* The same with the name that the element has. */
int evl_give_static(struct evl_element *element, struct evl_object *object, const struct evl_kind *kind);
/*
 * Gives an element the object with a name, of this process or of another one, and another
 * descriptor of that.
 */
int evl_open(struct evl_element *element, const struct evl_kind *kind, const char *format, va_list arguments);
int evl_close(struct evl_element *element, const struct evl_kind *kind);

/* The object of an element, made if it is not yet; NULL: there is none of that kind. */
void *evl_find(struct evl_element *element, const struct evl_kind *kind);
/* The same with the lock and a reference. */
void *evl_enter(struct evl_element *element, const struct evl_kind *kind);
/* The object of a descriptor, with the lock and a reference. */
void *evl_enter_file(int efd, const struct evl_kind *kind);
/* The same; and whether one may wait for the descriptor. */
void *evl_enter_any(int efd, bool *waits);
/* Gives up the reference and the lock, and returns the result. */
long evl_leave(void *object, long result);

/* Those that look after an object's descriptors are told that something has changed. */
void evl_changed(struct evl_object *object);
/* Waits, as primary_wait, with an object that a reference is held of. */
int evl_wait(struct evl_object *object, struct primary_queue *queue, struct primary_wait *wait, struct primary_end end);
/*
 * Takes a semaphore that processes share, waiting for it; or flags, if some are wanted. Returns 0
 * or the flags, or an error.
 */
long evl_wait_shared(struct evl_object *object, uint64_t wanted, struct primary_end end);
/* When those that poll look again at an object, of which other processes do not tell them. */
struct primary_end evl_looks_again(struct evl_object *object);
void evl_put(struct evl_object *object);
/* Gives up the reference of an operation that was cancelled. */
void evl_put_cancelled(void *object);

#endif
