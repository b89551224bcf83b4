// SPDX-License-Identifier: GPL-2.0-only
/* What the rest of Linux does to a thread in primary mode, or shows of it. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* A sleep by a clock that is set meanwhile. */
static struct {
	int64_t length;
	volatile int64_t begins;
	volatile int64_t ends;
	bool was_primary;
} nap;

static void *naps(void *context)
{
	to_primary();
	nap.was_primary = is_primary();
	nap.begins = now(CLOCK_MONOTONIC);
	check(!sleep_until(CLOCK_REALTIME, now(CLOCK_REALTIME) + nap.length), "clock_nanosleep");
	nap.ends = now(CLOCK_MONOTONIC);
	return context;
}

static void put_clock(int64_t by)
{
	struct timespec time = timespec_of(now(CLOCK_REALTIME) + by);

	check(!clock_settime(CLOCK_REALTIME, &time), "clock_settime: %s", strerror(errno));
}

/*
 * Sleeps as long by the real-time clock, which is put forward or back. Returns how long that took.
 */
static int64_t nap_for(int64_t length, int64_t by)
{
	pthread_t thread;

	nap.length = length;
	nap.begins = 0;
	thread = begin_thread(PRIORITY, naps, NULL);
	while (!nap.begins)
		usleep(1000);
	usleep(20000);
	put_clock(by);
	pthread_join(thread, NULL);
	put_clock(-by);
	check(is_native || nap.was_primary, "it slept in Linux");
	return nap.ends - nap.begins;
}

/* Who sleeps until a time of a clock wakes up at that time, whoever sets the clock. */
void clock_is_set(void)
{
	int64_t took;

	mark(0);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	took = nap_for(SECOND, 10 * SECOND);
	check(took < SECOND / 2, "it slept %lld ns, though its time had come", (long long)took);
	took = nap_for(100 * MILLISECOND, -200 * MILLISECOND);
	check(took >= 290 * MILLISECOND, "it slept %lld ns, though its time was farther away", (long long)took);
}

/* A process whose system calls are filtered makes each of them in Linux. */
static void is_filtered(void *context)
{
	(void)context;
	enter();
	to_primary();
	check(is_primary(), "it is not in primary mode without a filter");
	filter_calls();
	to_primary();
	check(!is_primary(), "it is in primary mode with a filter");
}

void filtered(void)
{
	int status;

	if (is_native)
		return;
	status = status_of(spawn(is_filtered, NULL));
	check(!status, "its status is %#x", status);
}

#define CORE "/tmp/dual-core"
#define MARK 0x1234567890abcdefull

extern const char faults_here[];

/* Ends with a register that is known, in primary mode. */
static void leaves_core(void *context)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	(void)context;
	check(!setrlimit(RLIMIT_CORE, &all), "setrlimit");
	enter();
	to_primary();
	check(is_native || is_primary(), "it is in Linux");
	asm volatile(".global faults_here; faults_here: movl $0, (%0)" : : "r" (0ul), "b" (MARK) : "memory");
}

static void set_pattern(const char *pattern, char *before, size_t room)
{
	int file = open("/proc/sys/kernel/core_pattern", O_RDWR);
	ssize_t length = before ? read(file, before, room - 1) : 0;

	check(file >= 0 && length >= 0, "core_pattern: %s", strerror(errno));
	if (before)
		before[length] = 0;
	check(pwrite(file, pattern, strlen(pattern), 0) == (ssize_t)strlen(pattern), "core_pattern: %s", strerror(errno));
	close(file);
}

/* The first thread's registers in a core dump. */
static const struct elf_prstatus *registers_of(const char *core, size_t bytes)
{
	const Elf64_Ehdr *head = (const void *)core;
	const Elf64_Phdr *notes;
	const Elf64_Nhdr *note;
	size_t name;

	check(bytes > sizeof(*head) && !memcmp(head->e_ident, ELFMAG, SELFMAG), "it is no core dump");
	check(head->e_phoff + sizeof(*notes) <= bytes, "it is cut short");
	notes = (const void *)(core + head->e_phoff);
	name = sizeof(*note) + sizeof("CORE") + 3;
	check(notes->p_type == PT_NOTE && notes->p_offset + name + sizeof(struct elf_prstatus) <= bytes,
	      "it has no notes");
	note = (const void *)(core + notes->p_offset);
	check(note->n_type == NT_PRSTATUS && note->n_namesz == sizeof("CORE"), "it does not begin with registers");
	return (const void *)(core + notes->p_offset + name);
}

/* A core dump shows the thread as it was in primary mode. */
void dumps(void)
{
	static char core[1 << 16], before[128];
	const struct elf_prstatus *shown;
	const unsigned long long *rbx, *rip;
	int status, file;
	ssize_t bytes;

	set_pattern(CORE, before, sizeof(before));
	status = status_of(spawn(leaves_core, NULL));
	set_pattern(before, NULL, 0);
	check(WIFSIGNALED(status) && WCOREDUMP(status), "its status is %#x", status);
	file = open(CORE, O_RDONLY);
	bytes = read(file, core, sizeof(core));
	check(file >= 0 && bytes > 0, CORE ": %s", strerror(errno));
	close(file);
	unlink(CORE);
	shown = registers_of(core, bytes);
	/* As ptrace numbers them: rbx is number 5, rip number 16. */
	rbx = &((const unsigned long long *)&shown->pr_reg)[5];
	rip = &((const unsigned long long *)&shown->pr_reg)[16];
	check(*rbx == MARK, "rbx is %#llx", *rbx);
	check(*rip == (unsigned long)faults_here, "rip is %#llx", *rip);
}
