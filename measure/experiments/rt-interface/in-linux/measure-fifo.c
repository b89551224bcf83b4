// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Linux's half of rt-fifo.c: a process that reads what the real-time thread puts, and reports how
 * long that took. Figures go to the console.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fifo.h"

static unsigned long long sum, least, most, count;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void add(unsigned long long value)
{
	if (!count || value < least)
		least = value;
	if (value > most)
		most = value;
	sum += value;
	count++;
}

static int open_fifo(const char *name, int flags)
{
	int file = open(name, flags);

	if (file < 0)
		die(name);
	return file;
}

static void read_whole(int file, void *data, size_t size)
{
	if (read(file, data, size) != (ssize_t)size)
		die("read");
}

static void start(int file, char what)
{
	if (write(file, &what, 1) != 1)
		die("write");
}

/* From rtf_put in the real-time thread until read() has returned here. */
static void measure_latency(FILE *out, int go)
{
	int file = open_fifo("/dev/rtf0", O_RDONLY);
	struct message message;
	int i;

	start(go, START_SMALL);
	for (i = 0; i < SMALL_MESSAGES; i++) {
		read_whole(file, &message, sizeof(message));
		add(__builtin_ia32_rdtsc() - message.ticks);
	}
	close(file);
	fprintf(out, "figure rt_fifo_read %llu ns\n", (sum + count - 1) / count);
	fprintf(out, "figure rt_fifo_read_min %llu ns\nfigure rt_fifo_read_max %llu ns\n", least, most);
}

/* Instructions of the whole machine per byte, while neither side waits for the other. */
static void measure_throughput(FILE *out, int go)
{
	static char data[BULK_SIZE];
	int file = open_fifo("/dev/rtf1", O_RDONLY);
	unsigned long long begin;
	int i;

	start(go, START_BULK);
	for (i = 0; i < BULK_AHEAD; i++)
		read_whole(file, data, sizeof(data));
	begin = __builtin_ia32_rdtsc();
	for (i = 0; i < BULK_MESSAGES; i++)
		read_whole(file, data, sizeof(data));
	begin = __builtin_ia32_rdtsc() - begin;
	close(file);
	fprintf(out, "figure rt_fifo_byte %.3f ns\n", (double)begin / ((double)BULK_MESSAGES * BULK_SIZE));
}

int main(void)
{
	struct sched_param urgent = { .sched_priority = 50 };
	FILE *out = fopen("/dev/console", "w");
	int go;

	if (!out)
		die("/dev/console");
	if (sched_setscheduler(0, SCHED_FIFO, &urgent) || mlockall(MCL_CURRENT | MCL_FUTURE))
		die("real-time priority");
	go = open_fifo("/dev/rtf2", O_WRONLY);
	measure_latency(out, go);
	measure_throughput(out, go);
	start(go, START_END);
	fclose(out);
	printf("%d messages\n", SMALL_MESSAGES + BULK_MESSAGES);
	return 0;
}
