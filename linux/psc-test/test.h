/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of real-time signals in Linux. The first failure ends them, with a line about it. */
#ifndef TEST_H
#define TEST_H

#include <rtlinux_signal.h>

/* Two of Linux's FIFOs. */
#define FIFO 5
#define OTHER_FIFO 6
#define MILLISECOND 1000000

#define check(condition, ...) \
	do { \
		if (!(condition)) \
			fail(__FILE__, __LINE__, __VA_ARGS__); \
	} while (0)

/* Raised by some handlers. */
extern volatile unsigned int count;

void fail(const char *file, int line, const char *what);
void nap(long milliseconds);
void handle(int sig, void (*handler)(int), hrtime_t period, int flags);
struct rtlinux_sigstate state_of(int sig);
void increments(int sig);
/* Sets a handler that is ended for what it does; returns its state then. */
struct rtlinux_sigstate ends(void (*handler)(int), int fault, const char *what);

void confines(void);
void closes(void);
void withstands(void);
/* Runs the other process, with an open file of the first. */
int intrude(int device);

#endif
