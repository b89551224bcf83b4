/* SPDX-License-Identifier: GPL-2.0-only */
/* Kinds of threads that switch to each other, as they are named: rtup_ufpp0. */
#ifndef SWITCH_KIND_H
#define SWITCH_KIND_H

#include <stdbool.h>
#include <stddef.h>

enum switch_mode {
	/* Always in Linux, and sleeps from time to time, so that all else there gets on. */
	SLEEPER,
	/* Always in primary mode. */
	RTUP,
	/* Always in Linux. */
	RTUS,
	/* Waits in one mode, then in the other. */
	RTUO,
};

struct switch_kind {
	enum switch_mode mode;
	/* Whether its registers hold a pattern while it waits in that mode. */
	bool holds_in_primary;
	bool holds_in_linux;
	int cpu;
};

/* The kind that a word names; ends the program if there is none. */
struct switch_kind switch_kind_of(const char *word);
/* The name of the thread of a kind with that number. */
void switch_kind_name(const struct switch_kind *kind, unsigned int number, char *name, size_t size);

#endif
