// SPDX-License-Identifier: GPL-2.0-only
/* The device /dev/pillion by way of the library and the command. The task is called "linux-channels". */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

#define TASK "linux-channels"

/* Whether the output of a command has a text in it. */
static bool says(const char *command, const char *text)
{
	static char output[65536];
	FILE *pipe = popen(command, "r");
	size_t size;

	if (!pipe)
		return false;
	size = fread(output, 1, sizeof(output) - 1, pipe);
	output[size] = '\0';
	return !pclose(pipe) && strstr(output, text);
}

const char *test_control(void)
{
	struct pillion_view *view = pillion_view_open();
	const struct pillion_status *status;
	int task, device;

	CHECK(view);
	task = pillion_task_find(view, TASK);
	CHECK(task >= 0 && pillion_task(view, task)->state == PILLION_TASK_RUNNING);
	status = pillion_task_status(view, task);
	CHECK(status->fifos[FIFO_PLAIN].size == PLAIN_SIZE && !status->fifos[FIFO_NOT_MADE].size);
	CHECK(status->threads[0].mode == PILLION_MODE_LINUX);
	CHECK(!pillion_view_refresh(view) && pillion_task_usage(view, task)[0].ticks);
	pillion_view_close(view);

	device = open("/dev/pillion", O_RDWR);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, device, 0) == MAP_FAILED && errno == EPERM);
	close(device);
	CHECK(says("pillion ps", TASK ": running"));
	CHECK(says("pillion ps --json", "\"name\":\"" TASK "\",\"state\":\"running\""));
	CHECK(says("pillion dmesg", TASK ": channels are there"));
	CHECK(says("dmesg", "pillion: " TASK ": channels are there"));
	CHECK(fails(pillion_load("not-there", NULL), ENOENT));
	CHECK(fails(pillion_load(TASK, NULL), EBUSY));
	return NULL;
}

/* A task ends only when nobody has a FIFO of it open; its FIFOs are gone then. */
const char *test_unload(void)
{
	int fifo = rtf(FIFO_PLAIN, 0);

	CHECK(fails(pillion_unload(TASK), EBUSY));
	close(fifo);
	CHECK(pillion_unload(TASK) == 0);
	CHECK(fails(pillion_fifo_open(FIFO_PLAIN, O_RDWR), ENODEV));
	return NULL;
}
