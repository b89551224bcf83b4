// SPDX-License-Identifier: GPL-2.0-only
/* Commands to the resource manager, one at a time. */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "command.h"
#include "hypercall.h"
#include "window.h"

static DEFINE_MUTEX(lock);

/* Writes the name, a zero, and what follows. */
static int fill(struct pillion_command *command, const char *name, const char *more)
{
	size_t size = strlen(name) + 1;

	if (size + strlen(more) + 1 > sizeof(command->text))
		return -E2BIG;
	memset(command->text, 0, sizeof(command->text));
	strcpy(command->text, name);
	strcpy(command->text + size, more);
	return 0;
}

/* Has the resource manager carry out a command; returns 0 or more, or a negative errno. */
int command(u32 number, const char *name, const char *more, u64 size)
{
	long result;

	mutex_lock(&lock);
	result = fill(window.orders, name, more);
	if (!result) {
		window.orders->number = number;
		window.orders->size = size;
		result = hypercall(PILLION_HYPERCALL_COMMAND, 0);
	}
	mutex_unlock(&lock);
	return clamp_t(long, result, -MAX_ERRNO, INT_MAX);
}
