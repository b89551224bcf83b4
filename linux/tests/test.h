/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of Linux's side of the channels. They run in Linux beside the task
 * rt/tests/programs/linux-channels.c, which describes each FIFO.
 */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>

#define FIFO_PLAIN 0
#define FIFO_COMMANDS 1
#define FIFO_SHARED 3
#define FIFO_IOCTL 4
#define FIFO_BULK 5
#define FIFO_TIMES 6
#define FIFO_OTHER 7
#define FIFO_SLOW 8
#define FIFO_NOT_MADE 9

#define PLAIN_SIZE 128

/* The argument of two FIFOs' handlers of I/O controls. */
struct pair {
	int number;
	int twice;
};

#define IOCTL_DOUBLE _IOWR('t', 1, struct pair)
#define IOCTL_NEXT _IO('t', 2)
/* Like IOCTL_DOUBLE, but it takes 300 ms; so does the handler of writes to FIFO_SLOW. */
#define IOCTL_SLOW _IOWR('t', 5, struct pair)
/* The task takes what is in FIFO_PLAIN, a tenth of a second later. */
#define IOCTL_TAKE _IO('t', 6)
/* The task prints control characters. */
#define IOCTL_PRINT _IO('t', 7)
/* The task sets the size of a FIFO: the upper bits are its number, the lower ones the size. */
#define IOCTL_RESIZE _IO('t', 8)
#define IOCTL_DESTROY _IO('t', 9)
/* The task prints more at once than its log holds. */
#define IOCTL_FLOOD _IO('t', 10)

/* A test fails by returning the reason. */
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			return #condition " (line " TEXT(__LINE__) ")";                                                \
	} while (0)

/* Whether a call failed with that error. */
bool fails(long result, int error);
/* Opens a FIFO for reading and writing, with further flags; exits on failure. */
int rtf(unsigned int number, int flags);
/* Milliseconds since the machine started. */
long now(void);
/* A signal comes once, after that many milliseconds, and only ends a wait. */
void alarm_in(int milliseconds);

const char *test_open(void);
const char *test_one_process(void);
const char *test_no_seeking(void);
const char *test_read_empty(void);
const char *test_write_whole(void);
const char *test_write_pieces(void);
const char *test_write_waits(void);
const char *test_fionread(void);
const char *test_signal(void);
const char *test_pair(void);
const char *test_handler_refuses(void);
const char *test_ioctl_number(void);
const char *test_ioctl_data(void);
const char *test_ioctl_without_handler(void);
const char *test_ioctl_left(void);
const char *test_ioctl_stalls(void);
const char *test_no_waiting(void);
const char *test_resize(void);
const char *test_poll(void);
const char *test_poll_normal(void);
const char *test_bulk(void);
const char *test_mbuff_shared(void);
const char *test_mbuff_errors(void);
const char *test_mbuff_file(void);
const char *test_mbuff_counts(void);
const char *test_control(void);
const char *test_journal_stalls(void);
const char *test_control_characters(void);
const char *test_lines_missing(void);
const char *test_unload(void);

int latency(int rounds);
int throughput(int messages);
int restart(int life);
int dead(void);

#endif
