// SPDX-License-Identifier: GPL-2.0-only
/* What may delay a real-time thread while Linux runs it: interrupts of devices, and tasks. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

/* As in the system files: how long interrupts wait at most. */
#define SHIELD (10 * MILLISECOND)

/* The line of the first serial port in /proc/interrupts. */
static char *line_of_port(void)
{
	static char text[1 << 14];
	char *line;
	int file = open("/proc/interrupts", O_RDONLY);
	size_t length = 0;
	ssize_t got;

	while ((got = read(file, text + length, sizeof(text) - 1 - length)) > 0)
		length += got;
	close(file);
	text[length] = 0;
	line = strstr(text, "ttyS0");
	check(line, "/proc/interrupts knows no ttyS0");
	while (line > text && line[-1] != '\n')
		line--;
	check(strchr(line, ':'), "%s is no line of /proc/interrupts", line);
	return line;
}

/* How often the port has interrupted Linux, on all processors. */
static unsigned long interrupts(void)
{
	char *next = strchr(line_of_port(), ':') + 1;
	long i, processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long sum = 0;

	for (i = 0; i < processors; i++)
		sum += strtoul(next, &next, 10);
	return sum;
}

/* Sends as much as takes several interrupts, and does not wait for it. */
static void send(void)
{
	static char text[512];
	static int port = -1;

	if (port < 0)
		port = open("/dev/ttyS0", O_WRONLY | O_NOCTTY | O_NONBLOCK);
	memset(text, '\n', sizeof(text));
	check(write(port, text, sizeof(text)) > 256, "/dev/ttyS0 takes no text");
}

/* Computes in Linux. Returns the longest time that something else took in between. */
static int64_t compute(int64_t length)
{
	int64_t begin = now(CLOCK_MONOTONIC), last = begin, longest = 0;

	while (last - begin < length) {
		int64_t next = now(CLOCK_MONOTONIC);

		if (next - last > longest)
			longest = next - last;
		last = next;
	}
	return longest;
}

/* How often the port interrupts a thread that uses it and then computes in Linux for that long. */
static unsigned long interrupts_during(int64_t length)
{
	unsigned long before = interrupts();

	send();
	compute(length);
	return interrupts() - before;
}

/* The same for a thread that goes to primary mode and comes back all the time. */
static unsigned long interrupts_between_visits(int64_t length)
{
	unsigned long before = interrupts();
	int64_t end = now(CLOCK_MONOTONIC) + length;

	send();
	while (now(CLOCK_MONOTONIC) < end) {
		sleep_until(CLOCK_MONOTONIC, 0);
		to_linux();
	}
	return interrupts() - before;
}

/* Wakes up in Linux every millisecond. */
static void *wakes(void *context)
{
	volatile bool *ends = context;

	while (!*ends)
		poll(NULL, 0, 1);
	return NULL;
}

/* How often the port interrupts threads that run in Linux in turn. */
static unsigned long interrupts_in_turns(int64_t length)
{
	volatile bool ends = false;
	pthread_t thread = begin_thread(PRIORITY + 10, wakes, (void *)&ends);
	unsigned long found = interrupts_during(length);

	ends = true;
	pthread_join(thread, NULL);
	return found;
}

static void begin(void)
{
	enter();
	to_primary();
	check(is_primary(), "it is in Linux");
	to_linux();
}

/* The calling thread and the port's interrupts are on that processor from now on. */
static void go_with_port(int processor)
{
	char name[64], number[32];
	int file;

	if (sysconf(_SC_NPROCESSORS_ONLN) == 1)
		return;
	go_to_processor(processor);
	snprintf(name, sizeof(name), "/proc/irq/%lu/smp_affinity_list",
		 strtoul(line_of_port(), NULL, 10));
	snprintf(number, sizeof(number), "%d", processor);
	file = open(name, O_WRONLY);
	check(file >= 0 && write(file, number, strlen(number)) > 0, "%s", name);
	close(file);
	/* They move with the next one. */
	send();
	usleep(20000);
}

/* Interrupts of Linux's devices wait while it runs a real-time thread, but not for ever. */
static void shield_on(int processor)
{
	unsigned long before, found;

	if (is_native)
		return;
	go_with_port(processor);
	begin();
	found = interrupts_during(SHIELD / 4);
	check(!found, "the port interrupted it %lu times", found);
	before = interrupts();
	to_primary();
	sleep_for(CLOCK_MONOTONIC, 4 * MILLISECOND, NULL);
	found = interrupts() - before;
	check(found, "the port did not interrupt Linux while it slept");
	sleep_for(CLOCK_MONOTONIC, 100 * MILLISECOND, NULL);
	found = interrupts_during(3 * SHIELD);
	check(found, "the port did not interrupt it in three times the shield's length");
	sleep_for(CLOCK_MONOTONIC, 100 * MILLISECOND, NULL);
	found = interrupts_between_visits(3 * SHIELD);
	check(found, "the port did not interrupt it while it visited Linux again and again");
	sleep_for(CLOCK_MONOTONIC, 100 * MILLISECOND, NULL);
	found = interrupts_in_turns(3 * SHIELD);
	check(found, "the port did not interrupt two threads that ran in turn");
	be_ordinary();
	sleep_for(CLOCK_MONOTONIC, 100 * MILLISECOND, NULL);
	found = interrupts_during(SHIELD / 4);
	check(found, "the port did not interrupt an ordinary thread");
}

void shield(void)
{
	shield_on(0);
}

void shield_elsewhere(void)
{
	shield_on(sysconf(_SC_NPROCESSORS_ONLN) - 1);
}

/*
 * In a system that boosts Linux, and whose shield lets the serial port through, beside a task that
 * is less urgent than this thread, and takes 400 µs at a time.
 */
int urgent_mode(void)
{
	int64_t longest;

	begin();
	check(interrupts_during(SHIELD / 4), "the port has to wait");
	/* The boost has 4 ms in each 20. */
	to_primary();
	sleep_for(CLOCK_MONOTONIC, 20 * MILLISECOND, NULL);
	to_linux();
	longest = compute(3 * MILLISECOND);
	check(longest < 300 * MICROSECOND, "the task took %lld ns", (long long)longest);
	longest = compute(10 * MILLISECOND);
	check(longest > 300 * MICROSECOND, "the task took %lld ns at most after the boost", (long long)longest);
	printf("dual mode: urgent, good\n");
	return 0;
}
