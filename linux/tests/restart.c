// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux crashes with FIFOs of the task rt/tests/programs/linux-restarts.c open, restarts, and finds
 * them as it left them. `channel-test restart 1` is for its first life, and does not return if all
 * is well; `channel-test restart 2` for the second.
 */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

/* As in the task. */
#define FIFO_NUMBERS 0
#define FIFO_COMMANDS 1
#define FIFO_ANSWERS 2
#define FIFO_SILENT 3

/* Reads numbers, which must be consecutive. Returns the last one, or exits. */
static uint32_t read_numbers(int fifo, unsigned int count)
{
	uint32_t number, last = 0;
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (pillion_fifo_read(fifo, &number, sizeof(number)) || (i && number != last + 1)) {
			fprintf(stderr, "after %u: %u (%s)\n", last, number, strerror(errno));
			exit(1);
		}
		last = number;
	}
	return last;
}

/* Exits unless a command gets that answer. */
static void say(const char *command, const char *answer)
{
	int commands = rtf(FIFO_COMMANDS, 0);
	char text[64] = "";
	ssize_t count;

	if (pillion_fifo_write(commands, command, strlen(command)))
		perror(command);
	count = read(commands, text, sizeof(text) - 1);
	close(commands);
	if (count < 0 || strcmp(text, answer)) {
		fprintf(stderr, "%s: answered \"%s\", not \"%s\"\n", command, text, answer);
		exit(1);
	}
}

/* Waits, in one way or the other, for data that the task never puts. */
static void *wait_reading(void *fifo)
{
	char byte;

	(void)!read(*(int *)fifo, &byte, 1);
	return NULL;
}

static void *wait_polling(void *fifo)
{
	struct pollfd file = { *(int *)fifo, POLLIN, 0 };

	poll(&file, 1, -1);
	return NULL;
}

static int first_life(void)
{
	int numbers = rtf(FIFO_NUMBERS, 0), silent = rtf(FIFO_SILENT, 0), commands = rtf(FIFO_COMMANDS, 0);
	pthread_t threads[2];
	int crash = open("/proc/sysrq-trigger", O_WRONLY);

	read_numbers(numbers, 500);
	say("hello", "HELLO");
	say("destroy", "-22");
	pthread_create(&threads[0], NULL, wait_reading, &silent);
	pthread_create(&threads[1], NULL, wait_polling, &silent);
	usleep(100000);
	/* In the middle of the data. */
	read_numbers(numbers, 5);
	(void)!write(crash, "c", 1);
	fprintf(stderr, "Linux lives on\n");
	close(commands);
	return 1;
}

static int second_life(void)
{
	int numbers;
	uint32_t last;

	/* No process has opened it in this life. */
	say("destroy", "0");
	numbers = rtf(FIFO_NUMBERS, 0);
	last = read_numbers(numbers, 3000);
	say("again", "AGAIN");
	read_numbers(numbers, 500);
	close(numbers);
	say("stop", "STOP");
	/* The task ends half a second from now. */
	sleep(1);
	printf("%u numbers\n", last);
	return last > 3500 ? 0 : 1;
}

int restart(int life)
{
	return life == 1 ? first_life() : second_life();
}
