/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads on one processor, of which one at a time has the turn. Who has it gives it to each of the
 * others, one after the other: so all pairs come about.
 */
#ifndef SWITCHING_H
#define SWITCHING_H

#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "registers.h"
#include "switch_kind.h"

#define NAME 48

struct circle;

struct switcher {
	struct circle *circle;
	struct switch_kind kind;
	/* Among all threads of the program. */
	unsigned int number;
	char name[NAME];
	pthread_t thread;
	pid_t tid;
	/* Whether it is its turn: a futex. */
	uint32_t has_turn;
	struct futex_waitv in_linux;
	/* To whom it gave the turn last, and how often it had it. */
	unsigned int to;
	unsigned int turns;
	/* Whether it waits in Linux next. */
	bool waits_in_linux;
	/* Whether it has waited: the turn can also come first. */
	bool has_waited;
	struct registers loaded;
	struct registers found;
} __attribute__((aligned(64)));

struct circle {
	int cpu;
	struct switcher **members;
	unsigned int count;
	/* Switches until now, changed by who has the turn; the last one, or 0: there is none. */
	volatile unsigned long switches;
	unsigned long last;
	/* Who had the turn before, and who has it. */
	struct switcher *volatile from;
	struct switcher *volatile at;
	volatile bool ends;
	bool has_ended;
	/* How often a thread was in another mode than that in which it was to wait. */
	volatile unsigned long strayed;
	/* Whose registers were changed by whom; the thread is NULL as long as there is none. */
	struct switcher *volatile damaged;
	struct switcher *damaged_after;
	struct mismatch mismatch;
};

/* The register that each thread has wrong from its hundredth turn on; negative: none. */
extern int switching_provoked;

/* Starts the threads, and the first turn. Ends the program if they cannot be where they belong. */
void switching_start(struct circle *circle);
/* Ends the circle; returns false if that takes longer than some seconds. */
bool switching_end(struct circle *circle);

#endif
