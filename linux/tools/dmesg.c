// SPDX-License-Identifier: GPL-2.0-only
/* `pillion dmesg`: what tasks printed. */
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

/* Writes a line `[seconds.microseconds] TASK: TEXT` as an object. */
static void show_json(char *line)
{
	char *task, *text, *time = line + 1 + strspn(line + 1, " ");

	task = strstr(time, "] ");
	text = task ? strstr(task, ": ") : NULL;
	if (!text)
		return;
	*task = '\0';
	*text = '\0';
	printf("{\"time\":%s,\"task\":", time);
	json_text(task + 2, SIZE_MAX);
	printf(",\"text\":");
	json_text(text + 2, SIZE_MAX);
	printf("}\n");
}

static void show(char *line, bool json)
{
	if (json)
		show_json(line);
	else
		puts(line);
}

/* Shows lines until there are no more, or forever. */
static int copy(FILE *journal, bool json)
{
	size_t space = 0;
	char *line = NULL;
	ssize_t length;

	while ((length = getline(&line, &space, journal)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		show(line, json);
		fflush(stdout);
	}
	free(line);
	return ferror(journal) ? complain("cannot read what tasks printed") : GOOD;
}

int command_dmesg(const struct options *options, int count, char **words)
{
	int device = open(PILLION_DEVICE, O_RDONLY | O_CLOEXEC | (options->follow ? 0 : O_NONBLOCK));
	FILE *journal = device < 0 ? NULL : fdopen(device, "r");
	int status;

	(void)count;
	(void)words;
	if (!journal)
		return complain("cannot read what tasks printed");
	status = copy(journal, options->json);
	fclose(journal);
	return status;
}
