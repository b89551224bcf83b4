/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tools share: messages, numbers in arguments, times, threads, and the end by a signal. */
#ifndef COMMON_H
#define COMMON_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SECOND 1000000000ll
#define MICROSECOND 1000ll

/* Shows `NAME: MESSAGE` on the standard error, and ends with status 1. A message has its remedy. */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* The same, and goes on. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An option's number; ends the program if it is none, or not from least to most. */
long number_of(const char *option, const char *text, long least, long most);
/* The number of a processor of this machine. */
int cpu_of(const char *option, const char *text);

/* Ends the program if threads cannot run in primary mode. */
void need_primary(void);

/* A thread for one processor; with priority 0, an ordinary one. */
pthread_t start(int priority, int cpu, void *(*run)(void *), void *argument);

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t now(void);

/* Hours, minutes and seconds, as the rows show them. */
struct clock_time {
	char text[16];
};
struct clock_time clock_time(long seconds);

/*
 * From now on, the signals that end a program set `interrupted` instead: in the calling thread, not
 * in those that it starts before `take_interrupts`.
 */
extern volatile bool interrupted;
void hold_interrupts(void);
void take_interrupts(void);

#endif
