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

/* The remedy for a user who may not use dual mode: the module says which group may. */
static const char *join_group(void)
{
	static char text[96];
	FILE *file = fopen("/sys/class/misc/pillion-dual/group", "re");
	char group[33];
	bool is_named = file && fscanf(file, "%32s", group) == 1;

	if (file)
		fclose(file);
	if (!is_named)
		return "be root, or name a group in [dual] of the system file";
	snprintf(text, sizeof(text), "join its group, %s", group);
	return text;
}

static void without_device(const char *program)
{
	if (errno == EACCES || errno == EPERM)
		without(program, PILLION_DUAL_DEVICE " may not be opened", join_group());
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

/* Says if Linux moves locked memory to make room. PREEMPT_RT does not, if it is not told to. */
static void look_at_compaction(const char *program)
{
	FILE *file = fopen("/proc/sys/vm/compact_unevictable_allowed", "re");

	if (file && fgetc(file) != '0')
		fprintf(stderr, "pillion: shared memory of %s may fault while Linux compacts memory; forbid it with `sysctl"
			" -w vm.compact_unevictable_allowed=0`\n", program);
	if (file)
		fclose(file);
}

/* Becomes the program. */
static int execute(const struct request *request, int device)
{
	const char *program = request->words[0];
	int error;

	if (device >= 0 && mark(request, device)) {
		raise_limit();
		look_at_compaction(program);
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

/*
 * Says which signal ended a program. SIGXCPU is often dual mode's: the watchdog's, or a warning
 * that the program does not handle.
 */
static void report_signal(const struct request *request, int number, bool is_watched)
{
	const char *cause = "";

	if (number == SIGXCPU && is_watched)
		cause = ": the watchdog, since a thread computed for longer than watchdog_ms of [dual] without waiting";
	else if (number == SIGXCPU && request->warns)
		cause = ": a thread went to Linux (--warn), and the program does not handle the signal";
	fprintf(stderr, "pillion: %s: ended by signal %d (%s)%s\n", request->words[0], number, strsignal(number), cause);
}

/* What a program that was not executed, or that shells cannot find, ends with. */
static bool was_not_executed(int status)
{
	return WIFEXITED(status) && (WEXITSTATUS(status) == NOT_EXECUTED || WEXITSTATUS(status) == NOT_FOUND);
}

/*
 * Says what became of each thread of a process with that status, and where they first went to
 * Linux.
 */
static void report(int device, pid_t process, const struct request *request, int status)
{
	struct pillion_dual_thread thread;
	struct pillion_dual_place place;
	unsigned int i, shown = 0;
	bool is_watched = false, is_hindered;

	for (i = 0; dual_look(device, i, &thread); i++) {
		if (thread.process != (uint32_t)process)
			continue;
		if (!shown++)
			dual_heading(stderr);
		dual_text(stderr, &thread);
		dual_advice(stderr, &thread);
		is_watched |= thread.left[PILLION_DUAL_LEFT_WATCHDOG];
	}
	if (WIFSIGNALED(status))
		report_signal(request, WTERMSIG(status), is_watched);
	is_hindered = dual_obstacles(stderr, device, request->words[0]);
	if (!shown && !is_hindered && !was_not_executed(status))
		fprintf(stderr, "pillion: no thread of %s was in primary mode: none waited with the policy SCHED_FIFO or"
			" SCHED_RR, or a line above says why it could not, or they are of a process that it"
			" started: put `pillion exec --report` before that program\n", request->words[0]);
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
	report(device, child, request, status);
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

	/* What getopt_long() begins its messages with. */
	argv[0] = "pillion exec";
	while ((letter = getopt_long(argc, argv, "+wrh", known, NULL)) != -1) {
		if (letter == 'w')
			request.warns = true;
		else if (letter == 'r')
			request.reports = true;
		else
			return letter == 'h' ? helped() : misused(NULL);
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
