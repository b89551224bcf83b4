// SPDX-License-Identifier: GPL-2.0-only
/* Groups of flags. */
#include <errno.h>
#include <evl/evl.h>
#include <poll.h>
#include <stdlib.h>

#include "object.h"
#include "primary/call.h"
#include "primary/lock.h"
#include "threads.h"

struct group {
	struct evl_object object;
	struct primary_queue waiters;
	unsigned int value;
	/* Flags that threads have taken; those of a broadcast go when all have. */
	unsigned int taken;
	bool is_broadcast;
};

/* What a thread waits for. */
struct wish {
	struct group *group;
	unsigned int bits;
	bool all;
};

static struct group *group_of(struct evl_object *object)
{
	return holder_of(object, struct group, object);
}

/* The flags that are set. A result of 32 bits that is negative is an error: those have 31. */
static unsigned int value_of(const struct group *group)
{
	long value;

	if (!group->object.shared)
		return group->value;
	value = PRIMARY_CALL(FLAGS_CLEAR, group->object.shared, 0, 0, 0);
	return value > 0 ? value : 0;
}

static unsigned int events(struct evl_object *object)
{
	return value_of(group_of(object)) ? POLLIN | POLLRDNORM : 0;
}

static void closes(struct evl_object *object)
{
	primary_wake_all(&group_of(object)->waiters, -EIDRM);
}

static void ends(struct evl_object *object)
{
	free(group_of(object));
}

static int make(struct group **made, int clockfd, int value, int flags)
{
	struct group *group;
	clockid_t clock;

	if (!evl_clock(clockfd, &clock) || flags & ~EVL_CLONE_MASK)
		return -EINVAL;
	evl_init();
	group = calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->object.clock = clock;
	group->value = value;
	group->object.shared_value = group->value;
	group->object.shared_flags = PILLION_DUAL_OBJECT_TAKEN;
	primary_queue_init(&group->waiters, true);
	*made = group;
	return 0;
}

static int make_static(struct evl_element *element);

static int make_shared(struct evl_object **made);

static const struct evl_kind groups = {
	.events = events, .changes = evl_looks_again, .closes = closes, .ends = ends, .make = make_static,
	.shared_kind = PILLION_DUAL_OBJECT_FLAGS, .make_shared = make_shared
};

static int make_shared(struct evl_object **made)
{
	struct group *group;
	int error = make(&group, EVL_CLOCK_MONOTONIC, 0, 0);

	if (!error)
		*made = &group->object;
	return error;
}

static int make_static(struct evl_element *element)
{
	struct group *made;
	int result = make(&made, element->clockfd, element->value, element->flags);

	if (result)
		return result;
	result = evl_give_static(element, &made->object, &groups);
	if (result < 0)
		free(made);
	return result;
}

int evl_create_flags(struct evl_flags *group, int clockfd, int value, int flags, const char *format, ...)
{
	struct group *made;
	va_list arguments;
	int result = make(&made, clockfd, value, flags);

	if (result)
		return result;
	va_start(arguments, format);
	result = evl_give(&group->element, &made->object, &groups, flags, format, arguments);
	va_end(arguments);
	if (result < 0)
		free(made);
	return result;
}

int evl_open_flags(struct evl_flags *group, const char *format, ...)
{
	va_list arguments;
	int result;

	va_start(arguments, format);
	result = evl_open(&group->element, &groups, format, arguments);
	va_end(arguments);
	return result;
}

/* Takes the flags that a thread waits for, if they are set. Returns whether they are. */
static bool takes(struct primary_wait *wait)
{
	struct wish *wish = wait->data;
	struct group *group = wish->group;
	unsigned int set = group->value & wish->bits;

	if (!set || (wish->all && set != wish->bits))
		return false;
	wait->value = set;
	if (group->is_broadcast)
		group->taken |= set;
	else
		group->value &= ~set;
	return true;
}

static void set(struct group *group, unsigned int bits, bool is_broadcast)
{
	group->value |= bits;
	group->is_broadcast = is_broadcast;
	group->taken = 0;
	primary_wake_some(&group->waiters, takes);
	group->is_broadcast = false;
	group->value &= ~group->taken;
	group->taken = 0;
	if (group->value)
		evl_changed(&group->object);
}

static void give_back(struct primary_wait *wait)
{
	set(((struct wish *)wait->data)->group, wait->value, false);
}

/* The real-time side gives the flags to one thread. */
static int wait_shared(struct group *group, struct wish wish, struct primary_end end, int *told)
{
	uint64_t any = wish.all ? 0 : PILLION_DUAL_SERVICE_ANY;
	long taken = evl_wait_shared(&group->object, wish.bits | any, end);

	if (taken < 0)
		return taken;
	if (told)
		*told = taken;
	return 0;
}

static int wait_for(struct group *group, struct wish wish, struct primary_end end, int *told)
{
	struct primary_wait wait = { .data = &wish, .give_back = give_back };
	int error = 0;

	wish.group = group;
	if (group->object.shared)
		return wait_shared(group, wish, end, told);
	if (!takes(&wait))
		error = evl_wait(&group->object, &group->waiters, &wait, end);
	if (!error && told)
		*told = wait.value;
	return error;
}

static int timed(struct evl_flags *group, struct wish wish, const struct timespec *timeout, int *told)
{
	struct primary_end end;
	struct group *found;

	if (!wish.bits)
		return -EINVAL;
	if (!evl_current)
		return -EPERM;
	found = evl_enter(&group->element, &groups);
	if (!found)
		return -EINVAL;
	if (!evl_end(&found->object, timeout, &end))
		return evl_leave(found, -EINVAL);
	return evl_leave(found, wait_for(found, wish, end, told));
}

static int try(struct evl_flags *group, struct wish wish, int *told)
{
	struct group *found = wish.bits ? evl_enter(&group->element, &groups) : NULL;

	return found ? evl_leave(found, wait_for(found, wish, PRIMARY_TRY, told)) : -EINVAL;
}

#define ANY_OF(bits) ((struct wish){ NULL, bits, false })
#define ALL_OF(bits) ((struct wish){ NULL, bits, true })

int evl_wait_flags(struct evl_flags *group, int *told)
{
	return timed(group, ANY_OF(~0U), NULL, told);
}

int evl_timedwait_flags(struct evl_flags *group, const struct timespec *timeout, int *told)
{
	return timed(group, ANY_OF(~0U), timeout, told);
}

int evl_trywait_flags(struct evl_flags *group, int *told)
{
	return try(group, ANY_OF(~0U), told);
}

int evl_wait_some_flags(struct evl_flags *group, int bits, int *told)
{
	return timed(group, ANY_OF(bits), NULL, told);
}

int evl_timedwait_some_flags(struct evl_flags *group, int bits, const struct timespec *timeout, int *told)
{
	return timed(group, ANY_OF(bits), timeout, told);
}

int evl_trywait_some_flags(struct evl_flags *group, int bits, int *told)
{
	return try(group, ANY_OF(bits), told);
}

int evl_wait_exact_flags(struct evl_flags *group, int bits)
{
	return timed(group, ALL_OF(bits), NULL, NULL);
}

int evl_timedwait_exact_flags(struct evl_flags *group, int bits, const struct timespec *timeout)
{
	return timed(group, ALL_OF(bits), timeout, NULL);
}

int evl_trywait_exact_flags(struct evl_flags *group, int bits)
{
	return try(group, ALL_OF(bits), NULL);
}

static int post_shared(struct group *group, int bits, bool is_broadcast)
{
	long result;

	if (bits < 0)
		return -EINVAL;
	primary_unlock();
	result = PRIMARY_CALL(FLAGS_SET, group->object.shared, bits, is_broadcast, 0);
	primary_lock();
	evl_changed(&group->object);
	return result;
}

static int post(struct evl_flags *group, int bits, bool is_broadcast)
{
	struct group *found = bits ? evl_enter(&group->element, &groups) : NULL;

	if (!found)
		return -EINVAL;
	if (found->object.shared)
		return evl_leave(found, post_shared(found, bits, is_broadcast));
	set(found, bits, is_broadcast);
	return evl_leave(found, 0);
}

int evl_post_flags(struct evl_flags *group, int bits)
{
	return post(group, bits, false);
}

int evl_broadcast_flags(struct evl_flags *group, int bits)
{
	return post(group, bits, true);
}

int evl_peek_flags(struct evl_flags *group, int *told)
{
	struct group *found = evl_enter(&group->element, &groups);

	if (!found)
		return -EINVAL;
	*told = value_of(found);
	return evl_leave(found, 0);
}

int evl_close_flags(struct evl_flags *group)
{
	return evl_close(&group->element, &groups);
}
