// SPDX-License-Identifier: GPL-2.0-only
/* What `pillion exec --report` says about where a thread left primary mode. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
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

/* Executes this program, with an argument, as `pillion exec` does with an option. */
static void executes_reported(const char *option, const char *argument)
{
	int fd = open(REPORT, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	char self[256] = "";

	check(fd >= 0 && dup2(fd, STDERR_FILENO) >= 0, REPORT ": %s", strerror(errno));
	check(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0, "readlink: %s", strerror(errno));
	execlp("pillion", "pillion", "exec", "--report", option, self, argument, NULL);
	fail(__FILE__, __LINE__, "pillion: %s", strerror(errno));
}

static void executes_with_report(void *option)
{
	executes_reported(option, "reported");
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

/* More than [dual] of systems/dual.toml has. */
#define THREADS 9

static void *naps(void *context)
{
	(void)context;
	sleep_for(CLOCK_MONOTONIC, 20 * MILLISECOND, NULL);
	return NULL;
}

/* Meets an obstacle after the other. */
int hindered(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3];
	const struct rlimit page = { 4096, 4096 };
	pthread_t threads[THREADS];
	int i;

	be_real_time();
	for (i = 0; i < THREADS; i++)
		threads[i] = begin_thread(PRIORITY, naps, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	/* With this capability the limit is none. */
	check(!syscall(SYS_capget, &header, rights), "capget: %s", strerror(errno));
	rights[0].effective &= ~(1u << CAP_IPC_LOCK);
	rights[0].permitted &= ~(1u << CAP_IPC_LOCK);
	check(!setrlimit(RLIMIT_MEMLOCK, &page) && !syscall(SYS_capset, &header, rights), "capset: %s",
	      strerror(errno));
	munlockall();
	/* More than the stacks that are gone. */
	check(mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED, "mmap");
	naps(NULL);
	filter_calls();
	naps(NULL);
	check(!setuid(1), "setuid: %s", strerror(errno));
	naps(NULL);
	return 0;
}

static void executes_hindered(void *option)
{
	executes_reported(option, "hindered");
}

/* The report says what kept threads from primary mode, and nothing that did not. */
void obstacles(void)
{
	static const char *const told[] = {
		"stayed in Linux: all threads of [dual] were in use; raise `threads`",
		"stayed in Linux: its memory is more than RLIMIT_MEMLOCK lets it lock; raise",
		"stayed in Linux: its system calls are filtered or traced; run it without seccomp",
		"stayed in Linux: its user changed, or it gained rights; mark it in the program after that",
	};
	static char text[16384];
	const char *line;
	unsigned int i, lines = 0;
	int status, fd;

	if (is_native)
		return;
	status = status_of(spawn(executes_hindered, "--"));
	check(!status, "its status is %#x", status);
	fd = open(REPORT, O_RDONLY);
	check(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, REPORT ": %s", strerror(errno));
	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		check(strstr(text, told[i]), "not told: %s", told[i]);
	for (line = text; (line = strstr(line, "stayed in Linux")); line++)
		lines++;
	check(lines == sizeof(told) / sizeof(told[0]), "%u obstacles", lines);
	close(fd);
	unlink(REPORT);
}
