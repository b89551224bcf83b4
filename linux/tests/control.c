// SPDX-License-Identifier: GPL-2.0-only
/* The device /dev/pillion, by the library and the command. The task is "linux-channels". */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stall.h"
#include "test.h"

#define TASK "linux-channels"

/* Whether the output of a command contains a text. */
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

static void *read_stalling(void *stall)
{
	int journal = open("/dev/pillion", O_RDONLY);
	long result = read(journal, stall_page(stall), 100);

	close(journal);
	return (void *)result;
}

/* A reader whose memory is slow to arrive does not stop the log for others. */
const char *test_journal_stalls(void)
{
	struct stall *stall = stall_open();
	int journal = open("/dev/pillion", O_RDONLY);
	pthread_t thread;
	char bytes[16];
	void *result;

	CHECK(stall);
	CHECK(!pthread_create(&thread, NULL, read_stalling, stall));
	CHECK(stall_begins(stall));
	alarm_in(500);
	CHECK(read(journal, bytes, sizeof(bytes)) == sizeof(bytes));
	alarm_in(0);
	stall_end(stall);
	pthread_join(thread, &result);
	CHECK((long)result > 0);
	close(journal);
	return NULL;
}

/*
 * What a task prints cannot affect a terminal, in 7 bits, in 8, or in UTF-8, where such a character
 * is two bytes; other characters come through.
 */
const char *test_control_characters(void)
{
	int control = rtf(FIFO_IOCTL, 0);
	long start = now();

	CHECK(!ioctl(control, IOCTL_PRINT));
	while (!says("pillion dmesg", "controls:") && now() - start < 3000)
		usleep(10000);
	CHECK(says("pillion dmesg", "controls: ? ? ?? \xc2\xb5s end"));
	CHECK(says("dmesg", "controls: ? ? ?? \xc2\xb5s end"));
	close(control);
	return NULL;
}

/* A number that a command prints; -1 if it prints none. */
static int number(const char *command)
{
	FILE *pipe = popen(command, "r");
	int result = -1;

	if (pipe && fscanf(pipe, "%d", &result) != 1)
		result = -1;
	if (pipe)
		pclose(pipe);
	return result;
}

/*
 * If a task prints more than can be copied, the kernel's log has 1000 of its lines in five seconds,
 * including those that say that lines are missing.
 */
const char *test_lines_missing(void)
{
	enum { FLOODS = 60 };
	int control = rtf(FIFO_IOCTL, 0), turn, said;

	/* The resource manager takes what was printed before. */
	usleep(300000);
	for (turn = 0; turn < FLOODS; turn++) {
		CHECK(!ioctl(control, IOCTL_FLOOD));
		/* Linux copies what is there: some 80 lines, and a note that others are missing. */
		usleep(2000);
	}
	said = number("dmesg | grep -c '(lines are missing)'");
	CHECK(said > 0);
	CHECK(said < FLOODS / 2);
	close(control);
	return NULL;
}

/* A task ends only when no process has one of its FIFOs open; then its FIFOs are gone. */
const char *test_unload(void)
{
	int fifo = rtf(FIFO_PLAIN, 0);

	CHECK(fails(pillion_unload(TASK), EBUSY));
	close(fifo);
	CHECK(pillion_unload(TASK) == 0);
	CHECK(fails(pillion_fifo_open(FIFO_PLAIN, O_RDWR), ENODEV));
	return NULL;
}
