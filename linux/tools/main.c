// SPDX-License-Identifier: GPL-2.0-only
/* `pillion`: real-time tasks on Pillion, seen from Linux. */
#include <errno.h>
#include <getopt.h>
#include <pillion_control.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

static const char help[] =
	"usage: pillion ps [--json]\n"
	"       pillion dmesg [--follow] [--json]\n"
	"       pillion load TASK [NAME=VALUE...] [--json]\n"
	"       pillion unload TASK [--json]\n"
	"       pillion exec [--warn] [--report] [--] PROGRAM [ARGUMENT...]\n"
	"       pillion check [--json] [FILE]\n"
	"       pillion hw [--json] [--dump FOLDER]\n"
	"\n"
	"  ps       shows tasks, their threads and FIFOs, and threads in dual mode\n"
	"  dmesg    shows what tasks printed\n"
	"  load     starts a task, with parameters\n"
	"  unload   ends a task\n"
	"  exec     runs a program, its real-time threads in dual mode\n"
	"  check    says whether Pillion would boot with a system file\n"
	"  hw       says what of what Pillion needs this machine has\n"
	"\n"
	"  -f, --follow   keep printing as more arrives\n"
	"  -j, --json     for programs\n"
	"  -w, --warn     send SIGXCPU to a thread that goes to Linux\n"
	"  -r, --report   say at the end where threads went to Linux, and why\n"
	"  -h, --help     show this help\n"
	"\n"
	"Exit status: 0 success, 1 failure, 2 wrong usage; that of the program for exec.\n"
	"See pillion(8).\n";

static const struct {
	const char *name;
	int (*run)(const struct options *options, int count, char **words);
	int least;
	int most;
} commands[] = {
	{ "ps", command_ps, 0, 0 },
	{ "dmesg", command_dmesg, 0, 0 },
	{ "load", command_load, 1, 1000 },
	{ "unload", command_unload, 1, 1 },
};

int complain(const char *what)
{
	const char *hint = "";

	if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
		hint = " (is the module loaded? `modprobe pillion`)";
	else if (errno == EACCES)
		hint = " (" PILLION_DEVICE " is for root and members of the group pillion)";
	fprintf(stderr, "pillion: %s: %s%s\n", what, strerror(errno), hint);
	return FAILED;
}

int misused(const char *why)
{
	if (why)
		fprintf(stderr, "pillion: %s\n", why);
	fprintf(stderr, "Try `pillion --help`.\n");
	return MISUSED;
}

static int run(const struct options *options, int count, char **words)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(words[0], commands[i].name))
			continue;
		if (count - 1 < commands[i].least || count - 1 > commands[i].most)
			return misused("wrong number of arguments");
		return commands[i].run(options, count - 1, words + 1);
	}
	fprintf(stderr, "pillion: there is no command `%s`\n", words[0]);
	return misused(NULL);
}

/* Executes a program of its own for a command, which needs no Pillion, and has its own options. */
static int become(char **words)
{
	char name[32];

	snprintf(name, sizeof(name), "pillion-%s", words[0]);
	words[0] = name;
	execvp(name, words);
	fprintf(stderr, "pillion: %s: %s (it is in the package pillion)\n", name, strerror(errno));
	return FAILED;
}

int helped(void)
{
	fputs(help, stdout);
	return GOOD;
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "follow", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct options options = { false, false };
	int letter;

	if (argc > 1 && !strcmp(argv[1], "exec"))
		return command_exec(argc - 1, argv + 1);
	if (argc > 1 && (!strcmp(argv[1], "check") || !strcmp(argv[1], "hw")))
		return become(argv + 1);
	while ((letter = getopt_long(argc, argv, "jfh", known, NULL)) != -1) {
		switch (letter) {
		case 'j':
			options.json = true;
			break;
		case 'f':
			options.follow = true;
			break;
		case 'h':
			return helped();
		default:
			/* getopt_long() has named it. */
			return misused(NULL);
		}
	}
	if (optind == argc)
		return misused("a command is missing");
	return run(&options, argc - optind, argv + optind);
}
