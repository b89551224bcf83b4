/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of `pillion`. Each returns its exit status. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>

#define GOOD 0
#define FAILED 1
#define MISUSED 2

struct options {
	bool json;
	bool follow;
};

int command_ps(const struct options *options, int count, char **words);
int command_dmesg(const struct options *options, int count, char **words);
int command_load(const struct options *options, int count, char **words);
int command_unload(const struct options *options, int count, char **words);

/* Prints what failed, and why: errno. */
int complain(const char *what);

#endif
