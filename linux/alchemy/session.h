/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects with names that the processes of a session share (--session=LABEL): primary mode's, by
 * the name LABEL/NAME. Semaphores, mutexes, condition variables and event groups can be; all else
 * is the process's own. Without primary mode there are none.
 */
#ifndef ALCHEMY_SESSION_H
#define ALCHEMY_SESSION_H

#include "object.h"

/* What primary mode has of a kind of objects. */
struct alchemy_shared_kind {
	const struct alchemy_kind *kind;
	/* PILLION_DUAL_OBJECT_..., and flags of it. */
	uint32_t object;
	uint32_t flags;
	/* Makes what this process has of one: 0 or an error. */
	int (*make)(const char *name, uint32_t shared, uintptr_t *handle);
};

/* Whether an object with that name is the session's. */
bool alchemy_shares(const char *name);
/* Makes the session's object, and what this process has of it. */
int alchemy_share(const struct alchemy_shared_kind *kind, const char *name, uint64_t value, uintptr_t *handle);
/*
 * Closes an object, and removes its name. Others that have it open keep it. -EBUSY: a thread of
 * this process uses it; -EPERM: the name is somebody else's.
 */
int alchemy_unshare(const struct alchemy_shared_kind *kind, const char *name, uint32_t shared);
/* Waits for an object with that name, of this process or of another one. */
int alchemy_bind_shared(const struct alchemy_shared_kind *kind, const char *name, RTIME timeout, uintptr_t *handle);

#endif
