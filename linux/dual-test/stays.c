// SPDX-License-Identifier: GPL-2.0-only
/* Memory of a thread in primary mode stays where it is, whatever Linux does to make room. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define BYTES (1 << 20)
#define PAGE 4096
#define ROUNDS 20

static unsigned char memory[BYTES];
/* As large, of a file: each byte is FILLED. */
static const unsigned char *mapping;
enum { FILLED = 0x5a };
static volatile bool ends;

/* Writes all of its memory and reads all of the file, over and over. */
static void *writes(void *context)
{
	struct pillion_dual_thread *thread = context;
	struct pillion_dual_thread first;
	unsigned int round, i;

	to_primary();
	to_linux();
	check(is_native || look(gettid(), &first), "it was never in primary mode");
	for (round = 0; !ends; round++) {
		to_primary();
		for (i = 0; i < BYTES; i += 256) {
			check(memory[i] == (unsigned char)round, "byte %u is %u in round %u", i, memory[i], round);
			memory[i]++;
			check(mapping[i] == FILLED, "byte %u of the file is %#x", i, mapping[i]);
		}
	}
	to_linux();
	check(is_native || look(gettid(), thread), "it was never in primary mode");
	if (!is_native)
		thread->left[PILLION_DUAL_LEFT_FAULT] -= first.left[PILLION_DUAL_LEFT_FAULT];
	return context;
}

/* Maps a file with pages all over Linux's memory, so that compaction wants to move some. */
static void map_file(int flags)
{
	int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	struct sysinfo info;
	unsigned char *others, page[PAGE];
	size_t between;
	unsigned int i;

	check(file >= 0 && !sysinfo(&info), "a file: %s", strerror(errno));
	between = info.freeram / 4 * 3 * info.mem_unit / (BYTES / PAGE) / PAGE * PAGE;
	others = mmap(NULL, between * (BYTES / PAGE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(others != MAP_FAILED, "mmap: %s", strerror(errno));
	memset(page, FILLED, PAGE);
	for (i = 0; i < BYTES / PAGE; i++) {
		memset(others + i * between, FILLED, between);
		check(write(file, page, PAGE) == PAGE, "a file: %s", strerror(errno));
	}
	munmap(others, between * (BYTES / PAGE));
	mapping = mmap(NULL, BYTES, PROT_READ, flags, file, 0);
	check(mapping != MAP_FAILED, "mmap: %s", strerror(errno));
	close(file);
}

/* Says whether locked memory may be moved. */
static void allow(char value)
{
	int file = open("/proc/sys/vm/compact_unevictable_allowed", O_WRONLY);

	check(file >= 0 && write(file, &value, 1) == 1, "compact_unevictable_allowed: %s", strerror(errno));
	close(file);
}

/* Forks and compacts memory beside a thread that uses its own memory and a file's. */
static void disturb(int flags)
{
	struct pillion_dual_thread thread = { .entries = 0 };
	int compact = open("/proc/sys/vm/compact_memory", O_WRONLY);
	unsigned int i;
	pthread_t writer;
	int status;

	check(compact >= 0, "compact_memory: %s", strerror(errno));
	mark(0);
	map_file(flags);
	check(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall: %s", strerror(errno));
	writer = begin_thread(PRIORITY, writes, &thread);
	for (i = 0; i < ROUNDS; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		check(waitpid(child, &status, 0) == child && !status, "a child's status is %#x", status);
		check(write(compact, "1", 1) == 1, "compaction: %s", strerror(errno));
	}
	ends = true;
	pthread_join(writer, NULL);
	close(compact);
	check(!thread.left[PILLION_DUAL_LEFT_FAULT], "it left primary mode for %llu faults",
	      (unsigned long long)thread.left[PILLION_DUAL_LEFT_FAULT]);
}

/* The process's own memory and a file that is mapped for it alone, as its code is, wherever. */
void memory_stays(void)
{
	allow('1');
	disturb(MAP_PRIVATE);
	allow('0');
}

/* A file that it shares, where Linux leaves locked memory in place. */
void shared_memory_stays(void)
{
	allow('0');
	disturb(MAP_SHARED);
}
