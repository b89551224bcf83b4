/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of eventfds and timerfds have in common. */
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define ROUNDS 200

/* Two files that several threads use, and how far the other one is. */
extern struct pair {
	int files[2];
	volatile unsigned int done;
} pair;

/* Results of system calls. */
long take(int file, uint64_t *value);
long add(int file, uint64_t value);
/* What is taken, which has to be there or to come. */
uint64_t taken(int file);
void gives(int file, uint64_t value);
bool is_readable(int file);
/*
 * Reads of the first file of the pair that a signal interrupts end, or are made again, as in Linux;
 * after the signals of each round, these bytes, at most eight, are written to it.
 */
void interrupted(unsigned int rounds, const void *bytes, size_t size);
/* The thread is where it is expected to be after a call. */
void check_mode(bool primary);
int event(unsigned int count, int flags);
int timer(clockid_t clock, int flags);
void arm(int file, int flags, int64_t first, int64_t interval);

#endif
