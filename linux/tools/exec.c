// SPDX-License-Identifier: GPL-2.0-only
/* `pillion exec`: runs a program whose real-time threads may be in primary mode. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pillion_dual.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "commands.h"
#include "dual.h"
#include "prepare.h"

/* Exit statuses of shells for a program that cannot be executed, and for one that is not there. */
#define NOT_EXECUTED 126
#define NOT_FOUND 127

struct request {
	bool warns;
	bool reports;
	char **words;
};

/* Why a program runs without dual mode. */
static void without(const char *program, const char *why, const char *remedy)
{
	fprintf(stderr, "pillion: %s runs without dual mode: %s; %s\n", program, why, remedy);
}

/* The remedy for an error that nobody expects. */
static const char *dmesg(const char *error)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s: look for pillion in `dmesg`", error);
	return text;
}

static void without_device(const char *program)
{
	if (errno == EACCES || errno == EPERM)
		without(program, PILLION_DUAL_DEVICE " may not be opened", "join its group");
	else if (errno == ENOENT && access("/dev/pillion", F_OK))
		without(program, "there is no " PILLION_DUAL_DEVICE, "load the module (`modprobe pillion`)");
	else if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
		without(program, "there is no " PILLION_DUAL_DEVICE, "add [dual] to the system file");
	else
		without(program, PILLION_DUAL_DEVICE " cannot be opened", dmesg(strerror(errno)));
}

/* Marks this process. */
static bool mark(const struct request *request, int device)
{
	struct pillion_dual_mark mark = { .flags = (request->warns ? PILLION_DUAL_WARN : 0) |
						   (request->reports ? PILLION_DUAL_REPORT : 0),
					  .clear = PILLION_DUAL_WARN | PILLION_DUAL_REPORT };

	if (!ioctl(device, PILLION_IOC_DUAL_MARK, &mark))
		return true;
	if (errno == EPERM)
		without(request->words[0], "it may not have real-time priority",
			"run it with CAP_SYS_NICE, or allow it RLIMIT_RTPRIO (`ulimit -r`, limits.conf)");
	else
		without(request->words[0], "the module refuses it", dmesg(strerror(errno)));
	return false;
}

static bool gains_rights(const char *file)
{
	struct stat stat_of;

	return !stat(file, &stat_of) && S_ISREG(stat_of.st_mode) &&
	       (stat_of.st_mode & (S_ISUID | S_ISGID) || getxattr(file, "security.capability", NULL, 0) > 0);
}

/*
 * Whether executing the program gives this process more rights. While something traces it, it
 * would not get them.
 */
static bool is_privileged(const char *program)
{
	const char *path = getenv("PATH"), *end;
	char file[4096];

	if (!geteuid())
		return false;
	if (strchr(program, '/') || !path)
		return gains_rights(program);
	for (; *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		snprintf(file, sizeof(file), "%.*s/%s", (int)(end - path), end == path ? "." : path, program);
		if (!access(file, X_OK))
			return gains_rights(file);
	}
	return false;
}

/* Makes what the program may lock what it may be allowed to lock. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_MEMLOCK, &limit);
}

/* Becomes the program. */
static int execute(const struct request *request, int device)
{
	const char *program = request->words[0];
	int error;

	if (device >= 0 && mark(request, device)) {
		raise_limit();
		if (is_privileged(program))
			fprintf(stderr, "pillion: %s is not prepared: it gains rights when it is executed, so its"
				" threads stay in Linux; mark it in the program (PILLION_IOC_DUAL_MARK)\n", program);
		else
			prepare(program);
	}
	execvp(program, request->words);
	error = errno;
	fprintf(stderr, "pillion: %s cannot be executed: %s\n", program, strerror(error));
	_exit(error == ENOENT ? NOT_FOUND : NOT_EXECUTED);
}

/* Says what became of each thread of a process, and where they first went to Linux. */
static void report(int device, pid_t process, const char *program)
{
	struct pillion_dual_thread thread;
	struct pillion_dual_place place;
	unsigned int i, shown = 0;

	for (i = 0; dual_look(device, i, &thread); i++) {
		if (thread.process != (uint32_t)process)
			continue;
		if (!shown++)
			dual_heading(stderr);
		dual_text(stderr, &thread);
	}
	if (!shown)
		fprintf(stderr, "pillion: no thread of %s was in primary mode: none waited with the policy SCHED_FIFO or"
			" SCHED_RR, or a line above or in `dmesg` says why it could not\n", program);
	for (i = 0; dual_look_place(device, i, &place); i++)
		dual_place_text(stderr, &place);
}

/* Runs the program as a child, and reports at its end. */
static int execute_and_report(const struct request *request, int device)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
	pid_t child;
	int status;

	/* What the terminal sends to both is for the program. */
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	child = fork();
	if (child < 0)
		return complain("cannot run another process");
	if (!child) {
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGQUIT, &quit, NULL);
		return execute(request, device);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return complain("cannot wait for the program");
	report(device, child, request->words[0]);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int command_exec(int argc, char **argv)
{
	static const struct option known[] = {
		{ "warn", no_argument, NULL, 'w' },
		{ "report", no_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct request request = { false, false, NULL };
	int letter, device;

	while ((letter = getopt_long(argc, argv, "+wrh", known, NULL)) != -1) {
		if (letter == 'w')
			request.warns = true;
		else if (letter == 'r')
			request.reports = true;
		else
			return letter == 'h' ? helped() : misused("unknown option");
	}
	if (optind == argc)
		return misused("a program is missing");
	request.words = argv + optind;
	device = open(PILLION_DUAL_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0)
		without_device(request.words[0]);
	if (request.reports && device >= 0)
		return execute_and_report(&request, device);
	return execute(&request, device);
}
