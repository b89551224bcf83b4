/* Computes for 11 ms, sleeps for 500 us, and reports by how much rounds exceed the shortest. */
#include <rtl.h>
#include <rtl_sched.h>

#include "../../include/measure.h"

#define WORK_NS 11000000LL
#define SLEEP_US 500
#define ROUNDS 10000

/* Iterations that calibrate how many take 11 ms, and the number of attempts. */
#define TRY 200000
#define TRIES 10

static int seconds = 10;
MODULE_PARM(seconds, "i");

static struct histogram jitter;
static long long rounds[ROUNDS];

/* The work: a chain of multiplications, in registers only, that no compiler can shorten. */
static void crunch(long long iterations)
{
	unsigned long long value = 1;

	while (iterations-- > 0) {
		value = (value ^ value >> 29) * 6364136223846793005ULL;
		__asm__ volatile("" : "+r"(value));
	}
}

static long long time_of(long long iterations)
{
	hrtime_t from = gethrtime();

	crunch(iterations);
	return gethrtime() - from;
}

static long long calibrated(void)
{
	long long took, shortest = time_of(TRY);
	int i;

	for (i = 1; i < TRIES; i++) {
		took = time_of(TRY);
		if (took < shortest)
			shortest = took;
	}
	return TRY * WORK_NS / shortest;
}

static int measure(void)
{
	long long iterations = calibrated();
	hrtime_t end = gethrtime() + seconds * 1000000000LL;
	int count = 0;

	while (count < ROUNDS && gethrtime() < end) {
		rounds[count++] = time_of(iterations);
		usleep(SLEEP_US);
	}
	return count;
}

static void tell(int count)
{
	long long shortest = rounds[0], longest = rounds[0];
	int i;

	for (i = 1; i < count; i++) {
		if (rounds[i] < shortest)
			shortest = rounds[i];
		if (rounds[i] > longest)
			longest = rounds[i];
	}
	for (i = 0; i < count; i++)
		histogram_add(&jitter, rounds[i] - shortest);
	histogram_tell(&jitter, "jitter", "ns");
	line_say("figure crunch_min %lld.%03lld us", shortest / 1000, shortest % 1000);
	line_say("figure crunch_max %lld.%03lld us", longest / 1000, longest % 1000);
}

static void work(void)
{
	tell(measure());
}

MEASURE_PROGRAM(100, work)
