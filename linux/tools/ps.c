// SPDX-License-Identifier: GPL-2.0-only
/* `pillion ps`: tasks, their threads and FIFOs, and threads that were in primary mode. */
#include <fcntl.h>
#include <libpillion.h>
#include <pillion_dual.h>
#include <stdio.h>
#include <unistd.h>

#include "commands.h"
#include "dual.h"
#include "shown.h"

static void show(const struct pillion_view *view, unsigned int number, bool json)
{
	struct shown task = {
		.view = view,
		.entry = pillion_task(view, number),
		.status = pillion_task_status(view, number),
		.number = number,
		.usage = pillion_task_usage(view, number),
	};

	if (json)
		ps_json(&task);
	else
		ps_text(&task);
}

/* Shows threads that were in primary mode, if there is dual mode. */
static void show_dual(bool json)
{
	int device = open(PILLION_DUAL_DEVICE, O_RDWR | O_CLOEXEC);
	struct pillion_dual_thread thread;
	unsigned int i;

	for (i = 0; device >= 0 && dual_look(device, i, &thread); i++) {
		if (json) {
			printf("%s", i ? "," : "");
			dual_json(&thread);
			continue;
		}
		if (!i) {
			printf("\n");
			dual_heading(stdout);
		}
		dual_text(stdout, &thread);
	}
	if (device >= 0)
		close(device);
}

int command_ps(const struct options *options, int count, char **words)
{
	struct pillion_view *view = pillion_view_open();
	unsigned int i;

	(void)count;
	(void)words;
	if (!view)
		return complain("cannot read the tasks");
	if (pillion_view_refresh(view))
		complain("processor time is not up to date");
	if (options->json)
		printf("{\"tasks\":[");
	for (i = 0; i < pillion_task_count(view); i++) {
		if (i)
			printf(options->json ? "," : "\n");
		show(view, i, options->json);
	}
	if (options->json)
		printf("],\"dual\":[");
	else if (!pillion_task_count(view))
		printf("no task with a skin; what the others do is in the log (`pillion dmesg`)\n");
	show_dual(options->json);
	if (options->json)
		printf("]}\n");
	pillion_view_close(view);
	return GOOD;
}
