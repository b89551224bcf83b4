/*
 * Linux crashes and starts again while processes have FIFOs open, read, poll and send commands
 * (linux/tests/restart.c). The program misses no period, loses nothing that was put, and what the
 * crashed Linux had open is closed.
 *
 * prints: hello
 * prints: destroy: -22
 * prints: destroy: 0
 * prints: again
 * prints: stop
 * prints: periods missed: 0, FIFO was full: yes
 * prints: destroyed: 0 0 0, silent -22
 * load: restart
 * run: --memory 512
 * limit: 400
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_fifo.h>
#include <rtl_time.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <pillion.h>

#define PERIOD 1000000

/* The same as in linux/tests/restart.c. */
#define NUMBERS 0
#define COMMANDS 1
#define ANSWERS 2
#define SILENT 3

/* Holds less than is counted while Linux is away. */
#define NUMBERS_SIZE 8192

static pthread_t counter;
static int missed, full;
static volatile int stopping;

static void *counts(void *unused)
{
	unsigned int number = 1;
	hrtime_t due = gethrtime() + PERIOD;

	pthread_make_periodic_np(pthread_self(), due, PERIOD);
	for (;; due += PERIOD) {
		pthread_wait_np();
		if (gethrtime() >= due + PERIOD)
			missed++;
		if (rtf_put(NUMBERS, &number, sizeof(number)) == sizeof(number))
			number++;
		else
			full = 1;
		/* By then Linux has closed its files. */
		if (stopping && ++stopping > 500)
			pillion_unload();
	}
	return unused;
}

/* Answers a command in capitals; the command to destroy the silent FIFO gets the result. */
static int on_command(unsigned int fifo)
{
	char text[32];
	int i, count = rtf_get(fifo, text, sizeof(text) - 1);

	if (count <= 0)
		return 0;
	text[count] = 0;
	rtl_printf("%s", text);
	if (!strcmp(text, "destroy")) {
		count = snprintf(text, sizeof(text), "%d", rtf_destroy(SILENT));
		rtl_printf(": %s", text);
	}
	rtl_printf("\n");
	if (!strcmp(text, "stop"))
		stopping = 1;
	for (i = 0; i < count; i++)
		if (text[i] >= 'a' && text[i] <= 'z')
			text[i] -= 'a' - 'A';
	rtf_put(ANSWERS, text, count);
	return 0;
}

int init_module(void)
{
	rtf_create(NUMBERS, NUMBERS_SIZE);
	rtf_create(COMMANDS, 256);
	rtf_create(ANSWERS, 256);
	rtf_create(SILENT, 256);
	rtf_make_user_pair(COMMANDS, ANSWERS);
	rtf_create_handler(COMMANDS, on_command);
	return pthread_create(&counter, NULL, counts, NULL);
}

void cleanup_module(void)
{
	int numbers, commands, answers;

	pthread_delete_np(counter);
	rtl_printf("periods missed: %d, FIFO was full: %s\n", missed, full ? "yes" : "no");
	numbers = rtf_destroy(NUMBERS);
	commands = rtf_destroy(COMMANDS);
	answers = rtf_destroy(ANSWERS);
	rtl_printf("destroyed: %d %d %d, silent %d\n", numbers, commands, answers, rtf_destroy(SILENT));
}
