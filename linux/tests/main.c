// SPDX-License-Identifier: GPL-2.0-only
/*
 * `channel-test` runs all tests; `channel-test latency N` and `channel-test throughput N` measure;
 * `channel-test restart N` is for Linux's N-th life, `channel-test dead` for a task that faults.
 * Prints the number of successful checks, or which test failed and why.
 */
#include <errno.h>
#include <fcntl.h>
#include <libpillion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "test.h"

static const struct {
	const char *name;
	const char *(*run)(void);
} tests[] = {
	{ "open", test_open },
	{ "one process", test_one_process },
	{ "no seeking", test_no_seeking },
	{ "read empty", test_read_empty },
	{ "write whole", test_write_whole },
	{ "write pieces", test_write_pieces },
	{ "write waits", test_write_waits },
	{ "FIONREAD", test_fionread },
	{ "signal", test_signal },
	{ "pair", test_pair },
	{ "handler refuses", test_handler_refuses },
	{ "ioctl number", test_ioctl_number },
	{ "ioctl data", test_ioctl_data },
	{ "ioctl without handler", test_ioctl_without_handler },
	{ "ioctl left", test_ioctl_left },
	{ "ioctl stalls", test_ioctl_stalls },
	{ "no waiting", test_no_waiting },
	{ "resize", test_resize },
	{ "poll", test_poll },
	{ "poll normal", test_poll_normal },
	{ "bulk", test_bulk },
	{ "mbuff shared", test_mbuff_shared },
	{ "mbuff errors", test_mbuff_errors },
	{ "mbuff file", test_mbuff_file },
	{ "mbuff counts", test_mbuff_counts },
	{ "control", test_control },
	{ "journal stalls", test_journal_stalls },
	{ "control characters", test_control_characters },
	{ "lines missing", test_lines_missing },
	/* The task is gone after this. */
	{ "unload", test_unload },
};

bool fails(long result, int error)
{
	return result == -1 && errno == error;
}

int rtf(unsigned int number, int flags)
{
	int fifo = pillion_fifo_open(number, O_RDWR | flags);

	if (fifo < 0) {
		fprintf(stderr, "/dev/rtf%u: %s\n", number, strerror(errno));
		exit(1);
	}
	return fifo;
}

long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void ignore(int sig)
{
	(void)sig;
}

void alarm_in(int milliseconds)
{
	struct sigaction action = { .sa_handler = ignore };
	struct itimerval timer = { .it_value = { .tv_usec = milliseconds * 1000 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static int run_all(void)
{
	static char failed[1024];
	const char *why;
	size_t i, used = 0;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		why = tests[i].run();
		if (why && used < sizeof(failed))
			used += snprintf(failed + used, sizeof(failed) - used, "%s%s: not so: %s", used ? "; " : "",
					 tests[i].name, why);
	}
	/* On one line, which is what a run shows. */
	if (used) {
		fprintf(stderr, "%s\n", failed);
		return 1;
	}
	printf("%zu checks\n", i);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 1)
		return run_all();
	if (argc == 3 && !strcmp(argv[1], "latency"))
		return latency(atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "throughput"))
		return throughput(atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "restart"))
		return restart(atoi(argv[2]));
	if (argc == 2 && !strcmp(argv[1], "dead"))
		return dead();
	fprintf(stderr, "usage: channel-test [latency ROUNDS|throughput MESSAGES|restart LIFE|dead]\n");
	return 2;
}
