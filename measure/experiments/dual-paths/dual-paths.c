// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Measures dual mode from within Linux: `dual-paths SECONDS`, briefly with 1. Each path runs in a
 * process of its own, which is marked and has the policy SCHED_FIFO. Prints figures; counted, a
 * tick is an instruction.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kit.h"

#define PAGE 4096
#define PAGES 64
#define TRACING "/sys/kernel/tracing/"

/* A system call answered in primary mode. */
static void measure_call(const char *name)
{
	struct readings readings = { 0 };
	int device = mark();
	unsigned int i;

	for (i = 0; i < rounds + WARM_UP; i++) {
		unsigned long long begin;

		rest();
		begin = ticks();
		call(SYS_gettid, 0, 0, 0, 0);
		if (i >= WARM_UP)
			add(&readings, ticks() - begin);
	}
	check_entries(device, 1, 2);
	print(name, &readings);
}

/* From SYSCALL in Linux to the first instruction in primary mode. */
static void measure_promotion(const char *name)
{
	struct readings readings = { 0 };
	int device = mark();
	unsigned int i;

	for (i = 0; i < rounds + WARM_UP; i++) {
		unsigned long long begin;

		call(SYS_getppid, 0, 0, 0, 0);
		begin = ticks();
		sleep_not();
		if (i >= WARM_UP)
			add(&readings, ticks() - begin);
		rest();
	}
	check_entries(device, rounds, rounds + WARM_UP);
	print(name, &readings);
}

/* A system call that only Linux answers, and back. */
static void measure_linux_call(const char *name)
{
	struct readings readings = { 0 };
	int device = mark();
	unsigned int i;

	for (i = 0; i < rounds + WARM_UP; i++) {
		unsigned long long begin;

		rest();
		begin = ticks();
		call(SYS_getppid, 0, 0, 0, 0);
		sleep_not();
		if (i >= WARM_UP)
			add(&readings, ticks() - begin);
	}
	check_entries(device, rounds, rounds + WARM_UP + 1);
	print(name, &readings);
}

/* The same call while the thread is in Linux: what of it is Linux's own. */
static void measure_plain_call(const char *name)
{
	struct readings readings = { 0 };
	unsigned int i;

	for (i = 0; i < rounds + WARM_UP; i++) {
		unsigned long long begin = ticks();

		call(SYS_getppid, 0, 0, 0, 0);
		if (i >= WARM_UP)
			add(&readings, ticks() - begin);
	}
	print(name, &readings);
}

/* A page fault in primary mode, which Linux serves. */
static void measure_fault(const char *name)
{
	struct readings there = { 0 }, back = { 0 };
	volatile char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	char name_back[64];
	int device = mark();
	unsigned int i;

	if (memory == MAP_FAILED)
		die("mmap");
	/* Linux will not make the pages one large one. */
	madvise((void *)memory, PAGES * PAGE, MADV_NOHUGEPAGE);
	rest();
	for (i = 0; i < rounds / PAGES + 1; i++) {
		unsigned int page;

		munlockall();
		if (madvise((void *)memory, PAGES * PAGE, MADV_DONTNEED))
			die("madvise");
		for (page = 0; page < PAGES; page++) {
			unsigned long long begin, middle;

			rest();
			begin = ticks();
			memory[page * PAGE] = 1;
			middle = ticks();
			sleep_not();
			if (i) {
				add(&there, middle - begin);
				add(&back, ticks() - begin);
			}
		}
	}
	check_entries(device, rounds, 2 * rounds);
	print(name, &there);
	snprintf(name_back, sizeof(name_back), "%s_back", name);
	print(name_back, &back);
}

/* A call of clock_nanosleep that Linux refuses at once, by a process that is not marked. */
static void measure_refused_sleep(const char *name)
{
	static const struct timespec never = { 0, -1 };
	struct readings readings = { 0 };
	unsigned int i;

	for (i = 0; i < rounds + WARM_UP; i++) {
		unsigned long long begin = ticks();

		call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&never, 0);
		if (i >= WARM_UP)
			add(&readings, ticks() - begin);
	}
	print(name, &readings);
}

static void write_file(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	if (file < 0 || write(file, text, strlen(text)) < 0)
		die(path);
	close(file);
}

/* When Linux last delivered SIGKILL to a thread, by its trace. */
static unsigned long long delivered(pid_t victim)
{
	unsigned long long at, found = 0;
	FILE *file = fopen(TRACING "trace", "r");
	char line[512];
	int thread;

	if (!file)
		die("trace");
	while (fgets(line, sizeof(line), file)) {
		const char *stamp = strstr(line, "] "), *event = strstr(line, ": signal_deliver: sig=9 ");
		const char *name_end = strrchr(line, '[');

		if (!stamp || !event || !name_end)
			continue;
		while (name_end > line && *--name_end != '-')
			;
		if (sscanf(name_end + 1, "%d", &thread) != 1 || thread != victim)
			continue;
		while (event > line && event[-1] != ' ')
			event--;
		if (sscanf(event, "%llu", &at) == 1)
			found = at;
	}
	fclose(file);
	return found;
}

static void mount_tracing(void)
{
	mkdir(TRACING, 0755);
	if (mount("tracefs", TRACING, "tracefs", 0, NULL) && errno != EBUSY)
		die("tracefs");
}

/*
 * Kills a process whose thread sleeps in primary mode, at `begin`. Returns its number. Each time at
 * another distance from Linux's tick.
 */
static pid_t kill_one(unsigned int number, unsigned long long *begin)
{
	static const struct timespec long_time = { 1000, 0 };
	pid_t child = fork();

	if (!child) {
		become_urgent(URGENT);
		mark();
		rest();
		for (;;)
			call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&long_time, 0);
	}
	/* The fork made it copy-on-write, which takes 1,500 instructions. */
	*begin = 0;
	usleep(5000 + 311 * number);
	*begin = ticks();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return child;
}

/* From kill() until a thread that was in primary mode is about to end. */
static void measure_kill(const char *name)
{
	struct readings readings = { 0 };
	unsigned int i;

	mount_tracing();
	write_file(TRACING "trace_clock", "x86-tsc");
	write_file(TRACING "events/signal/signal_deliver/enable", "1");
	for (i = 0; i < rounds / 50; i++) {
		unsigned long long begin, end;
		pid_t child = kill_one(i, &begin);

		end = delivered(child);
		if (!end)
			printf("invalid no trace of a signal\n");
		else
			add(&readings, end - begin);
		write_file(TRACING "trace", "0");
	}
	write_file(TRACING "events/signal/signal_deliver/enable", "0");
	print(name, &readings);
}

/*
 * How long the module's recall() takes, by Linux's tracer of functions. With a threshold, which is
 * below any recall, it writes nothing while it measures.
 */
static void measure_recall(const char *name)
{
	struct readings readings = { 0 };
	unsigned long long begin;
	unsigned int i, whole, rest;
	char line[512];
	FILE *file;

	mount_tracing();
	write_file(TRACING "trace_clock", "local");
	write_file(TRACING "tracing_thresh", "1");
	write_file(TRACING "set_ftrace_filter", "recall:mod:pillion");
	write_file(TRACING "current_tracer", "function_graph");
	for (i = 0; i < rounds / 50; i++)
		kill_one(i, &begin);
	file = fopen(TRACING "trace", "r");
	if (!file)
		die("trace");
	while (fgets(line, sizeof(line), file)) {
		const char *number = strchr(line, ')');

		if (!strstr(line, "recall") || !number)
			continue;
		number += 1 + strcspn(number + 1, "0123456789");
		if (sscanf(number, "%u.%3u us", &whole, &rest) == 2)
			add(&readings, whole * 1000ULL + rest);
	}
	fclose(file);
	write_file(TRACING "current_tracer", "nop");
	write_file(TRACING "set_ftrace_filter", "\n");
	if (readings.count < rounds / 50)
		printf("invalid %llu recalls in the trace\n", readings.count);
	print(name, &readings);
}

/* Debian's own cyclictest, of which nothing knows of dual mode. */
static void cyclictest(const char *prefix, const char *loops)
{
	unsigned long long least, average, most;
	char command[256], line[256];
	bool is_found = false;
	FILE *pipe;

	snprintf(command, sizeof(command), "pillion exec -- cyclictest -m -N -p 95 -i 97 -l %s -q", loops);
	pipe = popen(command, "r");
	if (!pipe)
		die("cyclictest");
	while (fgets(line, sizeof(line), pipe)) {
		const char *at = strstr(line, "Min:");

		if (at && sscanf(at, "Min: %llu Act: %*u Avg: %llu Max: %llu", &least, &average, &most) == 3) {
			printf("figure %s_min %llu ns\nfigure %s %llu ns\nfigure %s_max %llu ns\n", prefix, least, prefix,
			       average, prefix, most);
			is_found = true;
		}
	}
	if (pclose(pipe) || !is_found)
		printf("invalid cyclictest failed\n");
	fflush(stdout);
}

/* What the hooks of dual mode cost others: with the module, less without, undisturbed. */
static void measure_hooks(void)
{
	unsigned long long sleep = in_process(measure_refused_sleep, "refused_sleep", URGENT);
	unsigned long long other = in_process(measure_plain_call, "plain_call", URGENT);

	if (system("rmmod pillion"))
		printf("invalid the module is not unloaded\n");
	sleep -= in_process(measure_refused_sleep, "refused_sleep_without", URGENT);
	other -= in_process(measure_plain_call, "plain_call_without", URGENT);
	printf("figure hooked_call %lld ns\nfigure other_call %lld ns\n", sleep, other);
}

/* All paths but what threads pay beside a load. */
static void measure_idle(void)
{
	in_process(measure_call, "primary_call", URGENT);
	in_process(measure_promotion, "promotion", URGENT);
	in_process(measure_linux_call, "linux_call", URGENT);
	in_process(measure_fault, "fault", URGENT);
	in_process(measure_kill, "kill", 0);
	in_process(measure_recall, "recall", 0);
	measure_mutexes();
	measure_pins();
}

int main(int argc, char **argv)
{
	bool is_quick = argc > 1 && !strcmp(argv[1], "1");
	bool is_preempt_rt = !access("/sys/kernel/realtime", F_OK);
	pid_t loader;

	begin_kit();
	if (is_quick)
		rounds = 500;
	if (is_preempt_rt)
		rounds = 10000;
	else
		measure_idle();
	loader = load();
	in_process(measure_linux_call, "linux_call_load", URGENT);
	if (!is_preempt_rt)
		cyclictest("cyclictest", is_quick ? "10000" : "100000");
	kill(-loader, SIGKILL);
	waitpid(loader, NULL, 0);
	if (!is_preempt_rt)
		measure_hooks();
	printf("%u rounds\n", rounds);
	return 0;
}
