// SPDX-License-Identifier: GPL-2.0-only
#include "session.h"

#include <errno.h>
#include <string.h>
#include <xenomai/tunables.h>

#include "primary/call.h"
#include "primary/lock.h"
#include "primary/shared.h"

/* Who waits for a name of another process looks for it that often. */
#define PAUSE_NS 10000000L

/* The label of processes that share nothing. */
#define ANONYMOUS "anon"

/* The label, without the group of its users. */
static size_t label_length(void)
{
	return strcspn(get_session_label(), "/");
}

bool alchemy_shares(const char *name)
{
	size_t length = label_length();

	return name && *name && primary_is_there() && length &&
	       (length != strlen(ANONYMOUS) || memcmp(get_session_label(), ANONYMOUS, length));
}

/* Says which object is meant. */
static int state(struct pillion_dual_open *open, const struct alchemy_shared_kind *kind, const char *name)
{
	return primary_shared_state(open, kind->object, kind->flags, get_session_label(), label_length(), name);
}

/* This process has an object now, unless that is an error. */
static int keep(long shared, const struct alchemy_shared_kind *kind, const char *name, uintptr_t *handle)
{
	int error;

	if (shared < 0)
		return shared;
	error = kind->make(name, shared, handle);
	/* Another thread of this process may have been faster: both opened the same object. */
	if (error && error != -EEXIST)
		primary_shared_close(shared);
	return error;
}

int alchemy_share(const struct alchemy_shared_kind *kind, const char *name, uint64_t value, uintptr_t *handle)
{
	struct pillion_dual_open open;
	int error = state(&open, kind, name);

	primary_lock();
	if (!error && primary_named(kind->kind, name))
		error = -EEXIST;
	primary_unlock();
	if (error)
		return error;
	return keep(primary_shared_make(&open, value), kind, name, handle);
}

int alchemy_unshare(const struct alchemy_shared_kind *kind, const char *name, uint32_t shared)
{
	struct pillion_dual_open open;
	long error = PRIMARY_CALL(CLOSE, shared, 0, 0, 0);

	/* What is in use stays, and so does its name. */
	if (error)
		return error;
	error = state(&open, kind, name);
	if (!error)
		error = PRIMARY_CALL(UNLINK, (uintptr_t)&open, 0, 0, 0);
	/* It is gone with the last process that had the object; or another one has removed it. */
	return error == -ENOENT ? 0 : error;
}

/* Whether a wait that began ends after that time. */
static bool ends_after(const struct primary_end *end, int64_t ns)
{
	return end->clock == PRIMARY_NEVER || (end->clock != PRIMARY_AT_ONCE && end->ns > ns);
}

int alchemy_bind_shared(const struct alchemy_shared_kind *kind, const char *name, RTIME timeout, uintptr_t *handle)
{
	struct primary_end end = alchemy_after(timeout), pause;
	struct pillion_dual_open open;
	struct primary_name *found;
	int error;

	if (!alchemy_shares(name))
		return alchemy_bind(kind->kind, name, timeout, handle);
	error = state(&open, kind, name);
	while (!error) {
		pause = PRIMARY_UNTIL(CLOCK_MONOTONIC, primary_now(CLOCK_MONOTONIC) + PAUSE_NS);
		if (!ends_after(&end, pause.ns))
			pause = end;
		primary_lock();
		error = primary_bind(kind->kind, name, PRIMARY_TRY, &found);
		if (!error)
			*handle = holder_of(found, struct alchemy_object, name)->handle;
		primary_unlock();
		if (!error)
			return 0;
		error = keep(primary_shared_open(&open), kind, name, handle);
		if (error == -EEXIST) {
			error = 0;
			continue;
		}
		if (error != -ENOENT)
			return error;
		primary_lock();
		error = primary_bind(kind->kind, name, pause, &found);
		primary_unlock();
		if (error == -ETIMEDOUT && ends_after(&end, pause.ns))
			error = 0;
	}
	return error;
}
