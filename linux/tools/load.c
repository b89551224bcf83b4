// SPDX-License-Identifier: GPL-2.0-only
/* `pillion load` and `pillion unload`: start and end tasks. */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <pillion_control.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "json.h"

/* A task's state; PILLION_TASK_NONE if there is no such task, or no view of it. */
static uint32_t state_of(const char *name)
{
	struct pillion_view *view = pillion_view_open();
	uint32_t state = PILLION_TASK_NONE;
	int task;

	if (!view)
		return state;
	task = pillion_task_find(view, name);
	if (task >= 0)
		state = pillion_task(view, task)->state;
	pillion_view_close(view);
	return state;
}

static const char *why_busy(bool loads, uint32_t state)
{
	switch (state) {
	case PILLION_TASK_STARTING:
	case PILLION_TASK_RUNNING:
		return loads ? "it runs already" : "a process has one of its FIFOs open";
	case PILLION_TASK_STOPPING:
		return "it is about to end";
	case PILLION_TASK_FAULTED:
		return "it has faulted and is still there: unload it first";
	default:
		return "something that it needs is in use";
	}
}

static const char *reason(bool loads, const char *task, int error)
{
	uint32_t state = state_of(task);

	switch (error) {
	case ENOENT:
		if (access(PILLION_DEVICE, F_OK))
			return "there is no " PILLION_DEVICE " (is the module loaded? `modprobe pillion`)";
		return state == PILLION_TASK_STOPPED && !loads ? "it is not loaded" : "there is no such task in system.toml";
	case EBUSY:
		return why_busy(loads, state);
	case E2BIG:
		return "the name or the parameters are too long";
	default:
		return strerror(error);
	}
}

/* Opens the journal at its end; returns -1 if there is none. */
static int journal_open(void)
{
	int journal = open(PILLION_DEVICE, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char piece[4096];

	while (journal >= 0 && read(journal, piece, sizeof(piece)) > 0)
		;
	return journal;
}

/* Shows what the task, or Pillion about it, has printed since: there is why it did not start. */
static void journal_show(int journal, const char *task)
{
	FILE *lines = journal < 0 ? NULL : fdopen(journal, "r");
	size_t space = 0, length = strlen(task);
	char *line = NULL, *from;

	while (lines && getline(&line, &space, lines) > 0) {
		from = strstr(line, "] ");
		if (from && !strncmp(from + 2, task, length) && from[2 + length] == ':')
			fprintf(stderr, "%s", from + 2);
	}
	free(line);
	if (lines)
		fclose(lines);
}

static int tell(const struct options *options, bool loads, const char *task, int result)
{
	int error = result ? errno : 0;

	if (options->json) {
		printf("{\"task\":");
		json_text(task, SIZE_MAX);
		printf(",\"result\":%d}\n", -error);
	}
	if (error)
		fprintf(stderr, "pillion: %s was not %s: %s\n", task, loads ? "loaded" : "unloaded", reason(loads, task, error));
	return error ? FAILED : GOOD;
}

/* Joins the words with blanks. */
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
	int i, journal, status;

	for (i = 1; i < count; i++) {
		if (strchr(words[i], '='))
			continue;
		fprintf(stderr, "pillion: \"%s\" is not a parameter of the form NAME=VALUE\n", words[i]);
		return MISUSED;
	}
	if (!join(parameters, sizeof(parameters), count - 1, words + 1)) {
		errno = E2BIG;
		return tell(options, true, words[0], -1);
	}
	journal = journal_open();
	status = tell(options, true, words[0], pillion_load(words[0], parameters));
	if (status != GOOD)
		journal_show(journal, words[0]);
	return status;
}

int command_unload(const struct options *options, int count, char **words)
{
	(void)count;
	return tell(options, false, words[0], pillion_unload(words[0]));
}
