// SPDX-License-Identifier: GPL-2.0-only
/* `pillion load` and `pillion unload`: start and end of tasks. */
#include <errno.h>
#include <libpillion.h>
#include <pillion_control.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "json.h"

static const char *reason(int error)
{
	switch (error) {
	case ENOENT:
		return "there is no such task in system.toml, or the module is not loaded";
	case EBUSY:
		return "it runs already, or a process has one of its FIFOs open";
	case E2BIG:
		return "that is too long";
	default:
		return strerror(error);
	}
}

static int tell(const struct options *options, const char *done, const char *task, int result)
{
	int error = result ? errno : 0;

	if (options->json) {
		printf("{\"task\":");
		json_text(task, SIZE_MAX);
		printf(",\"result\":%d}\n", -error);
	}
	if (error)
		fprintf(stderr, "pillion: %s was not %s: %s\n", task, done, reason(error));
	return error ? FAILED : GOOD;
}

/* Puts the words together, with blanks between them. */
static bool join(char *parameters, size_t size, int count, char **words)
{
	size_t used = 0;
	int i;

	for (i = 0; i < count; i++) {
		used += snprintf(parameters + used, size - used, "%s%s", i ? " " : "", words[i]);
		if (used >= size)
			return false;
	}
	return true;
}

int command_load(const struct options *options, int count, char **words)
{
	char parameters[sizeof(((struct pillion_control_task *)0)->parameters)] = "";
	int i;

	for (i = 1; i < count; i++) {
		if (strchr(words[i], '='))
			continue;
		fprintf(stderr, "pillion: \"%s\" is no parameter: NAME=VALUE\n", words[i]);
		return MISUSED;
	}
	if (!join(parameters, sizeof(parameters), count - 1, words + 1)) {
		errno = E2BIG;
		return tell(options, "loaded", words[0], -1);
	}
	return tell(options, "loaded", words[0], pillion_load(words[0], parameters));
}

int command_unload(const struct options *options, int count, char **words)
{
	(void)count;
	return tell(options, "unloaded", words[0], pillion_unload(words[0]));
}
