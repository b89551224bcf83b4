// SPDX-License-Identifier: GPL-2.0-only
#include "shared.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "call.h"

int primary_shared_state(struct pillion_dual_open *open, uint32_t kind, uint32_t flags, const char *folder,
			 size_t folder_length, const char *name)
{
	int length;

	memset(open, 0, sizeof(*open));
	length = snprintf(open->name, sizeof(open->name), "%.*s/%s", (int)folder_length, folder, name);
	if (length >= (int)sizeof(open->name))
		return -ENAMETOOLONG;
	open->kind = kind;
	open->object_flags = flags;
	/* The processes trust each other: they have the same user or group. */
	open->mode = 0660;
	return 0;
}

long primary_shared_make(struct pillion_dual_open *open, uint64_t value)
{
	open->flags = PILLION_DUAL_OPEN_CREATE | PILLION_DUAL_OPEN_EXCLUSIVE;
	open->value = value;
	return primary_shared_open(open);
}

long primary_shared_open(const struct pillion_dual_open *open)
{
	return PRIMARY_CALL(OPEN, (uintptr_t)open, 0, 0, 0);
}

void primary_shared_close(uint32_t handle)
{
	PRIMARY_CALL(CLOSE, handle, 0, 0, 0);
}
