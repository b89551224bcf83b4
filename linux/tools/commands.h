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
/* Has options of its own, since those behind the program are the program's. */
int command_exec(int argc, char **argv);

/* Prints what failed, and why: errno. */
int complain(const char *what);
/* Prints why the command line is wrong, unless that is said already, and where the help is. */
int misused(const char *why);
/* Prints the help. */
int helped(void);

#endif
