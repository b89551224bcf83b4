// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Linux's half of dispatch.c: raises interrupts of QEMU's edu device at intervals that never fall
 * into step with anything, for half of the given seconds; the other half is for the task's timer.
 * Counts the interrupts.
 */
#include <fcntl.h>
#include <glob.h>
#include <mbuff.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../dispatch.h"

#define FUNCTIONS "/sys/bus/pci/devices/*"
#define VENDOR "0x1234"
#define DEVICE "0x11e8"

/* Registers of edu. */
#define RAISE 0x60
#define LOWER 0x64

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Whether a file of a PCI function in /sys contains a text. */
static int holds(const char *function, const char *file, const char *text)
{
	char path[256], found[32] = "";
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", function, file);
	stream = fopen(path, "r");
	if (!stream)
		return 0;
	if (!fgets(found, sizeof(found), stream))
		found[0] = 0;
	fclose(stream);
	return !strncmp(found, text, strlen(text));
}

static int open_in(const char *function, const char *file)
{
	char path[256];
	int opened;

	snprintf(path, sizeof(path), "%s/%s", function, file);
	opened = open(path, O_RDWR | O_SYNC);
	if (opened < 0)
		die(path);
	return opened;
}

/* Maps the registers of a PCI function, and enables it. */
static volatile unsigned int *registers_of(const char *function)
{
	int enable = open_in(function, "enable"), resource = open_in(function, "resource0");
	void *registers;

	if (write(enable, "1", 1) != 1)
		die("enable");
	registers = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, resource, 0);
	if (registers == MAP_FAILED)
		die("resource0");
	return registers;
}

static volatile unsigned int *find_registers(void)
{
	glob_t functions;
	size_t i;

	if (glob(FUNCTIONS, 0, NULL, &functions))
		die(FUNCTIONS);
	for (i = 0; i < functions.gl_pathc; i++)
		if (holds(functions.gl_pathv[i], "vendor", VENDOR) && holds(functions.gl_pathv[i], "device", DEVICE))
			return registers_of(functions.gl_pathv[i]);
	fprintf(stderr, "there is no edu device\n");
	exit(1);
}

static void raise_once(struct dispatch *shared, volatile unsigned int *registers, unsigned int number)
{
	usleep(200 + spread(number, 300));
	shared->raised = __builtin_ia32_rdtsc();
	registers[RAISE / 4] = 1;
	while (shared->seen == number)
		;
	registers[LOWER / 4] = 1;
	/* The task enables the line again long before the next pause is over. */
	shared->lowered = number + 1;
}

static long long milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

int main(int count, char **arguments)
{
	long long begin = milliseconds(), length = (count > 1 ? atoi(arguments[1]) : 1) * 1000LL;
	struct sched_param priority = { .sched_priority = 50 };
	struct dispatch *shared = mbuff_alloc(DISPATCH_AREA, sizeof(*shared));
	volatile unsigned int *registers = find_registers();
	unsigned int number = 0;

	if (!shared)
		die(DISPATCH_AREA);
	if (sched_setscheduler(0, SCHED_FIFO, &priority) || mlockall(MCL_CURRENT | MCL_FUTURE))
		die("a real-time process");
	while (milliseconds() < begin + length / 2)
		raise_once(shared, registers, number++);
	shared->is_last = 1;
	raise_once(shared, registers, number++);
	while (milliseconds() < begin + length)
		usleep(1000);
	shared->is_over = 1;
	while (!shared->has_told)
		usleep(1000);
	printf("%u interrupts\n", number);
	return 0;
}
