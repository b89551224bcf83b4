// SPDX-License-Identifier: GPL-2.0-only
/* What `pillion exec --report` says about where a thread left primary mode. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define REPORT "/tmp/dual-report"

__attribute__((noinline)) static void calls_linux(void)
{
	to_primary();
	to_linux();
	asm volatile("");
}

__attribute__((noinline)) static void faults_once(volatile char *page)
{
	to_primary();
	*page = 1;
	asm volatile("");
}

int reported(void)
{
	struct sched_param parameters = { .sched_priority = PRIORITY };
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* As a library does, which wants nothing and takes nothing away. */
	struct pillion_dual_mark again = { .flags = 0 };
	int i;

	device = open(PILLION_DUAL_DEVICE, O_RDWR | O_CLOEXEC);
	check(device >= 0 && !ioctl(device, PILLION_IOC_DUAL_MARK, &again), "mark: %s", strerror(errno));
	munlockall();
	/* A terminal would obey it. */
	prctl(PR_SET_NAME, "\033[2Jtester");
	check(!sched_setscheduler(0, SCHED_FIFO, &parameters), "sched_setscheduler: %s", strerror(errno));
	to_primary();
	madvise(page, 4096, MADV_DONTNEED);
	for (i = 0; i < 3; i++)
		calls_linux();
	faults_once(page);
	return 7;
}

static void executes_with_report(void *option)
{
	int fd = open(REPORT, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	char self[256] = "";

	check(fd >= 0 && dup2(fd, STDERR_FILENO) >= 0, REPORT ": %s", strerror(errno));
	check(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0, "readlink: %s", strerror(errno));
	execlp("pillion", "pillion", "exec", "--report", option, self, "reported", NULL);
	fail(__FILE__, __LINE__, "pillion: %s", strerror(errno));
}

/* Most bytes of the functions here. */
#define LENGTH 512

/* A frame of a place lies in a function. The program is static, so it is where it was. */
static bool is_in(const char *place, unsigned int frame, const void *function)
{
	const char *line = strchr(place, '\n');
	uintptr_t address;

	for (; frame && line; frame--)
		line = strchr(line + 1, '\n');
	line = line ? strstr(line, "0x") : NULL;
	address = line ? strtoull(line, NULL, 16) : 0;
	return address >= (uintptr_t)function && address < (uintptr_t)function + LENGTH;
}

/* The first of each kind is there, with the functions that led to it. */
void report(void)
{
	static char text[16384];
	char *call, *fault;
	int status, fd;

	if (is_native)
		return;
	status = status_of(spawn(executes_with_report, "--"));
	check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "its status is %#x", status);
	fd = open(REPORT, O_RDONLY);
	check(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, REPORT ": %s", strerror(errno));
	call = strstr(text, "  first call getppid, ");
	check(call && is_in(call, 0, calls_linux) && is_in(call, 1, reported), "getppid: %.200s", call ? call : "-");
	check(!strstr(call + 1, "  first call getppid, "), "it is there twice");
	fault = strstr(text, "  first page fault at 0x");
	check(fault && is_in(fault, 0, faults_once) && is_in(fault, 1, reported), "fault: %.200s", fault ? fault : "-");
	check(strstr(text, " ?[2Jtester ") && !strchr(text, '\033'), "its name: %.300s", text);
	close(fd);
	status = status_of(spawn(executes_with_report, "--warn"));
	check(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGXCPU, "with warnings its status is %#x", status);
	memset(text, 0, sizeof(text));
	fd = open(REPORT, O_RDONLY);
	check(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, REPORT ": %s", strerror(errno));
	check(strstr(text, ": ended by signal 24 (") && strstr(text, "--warn"), "its end: %.400s", text);
	close(fd);
	unlink(REPORT);
}
