/*
 * How reliably a thread answers a square wave of rising frequency: it toggles its output at each
 * rising edge, for which a timer wakes it, and its answers are correlated with the wave (walsh.h).
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pillion.h>

#include "../../include/measure.h"
#include "walsh.h"

#define PRIORITY 50

/* Edges per second: a series of preferred numbers. */
static const int frequencies[] = {
	500,   1000,   2000,   3150,   5000,   8000,   12500,  20000,  31500,  50000,
	80000, 100000, 125000, 160000, 200000, 250000, 315000, 400000, 500000, 630000, 800000,
	1000000, 1250000, 1600000, 2000000,
};
#define FREQUENCIES (sizeof(frequencies) / sizeof(frequencies[0]))

#define ROUNDS 4
/* How long each frequency is answered in a round: where nothing else runs, and beside Linux. */
#define ALONE_NS  10000000
#define BESIDE_NS 250000000
/*
 * Delay of the first edge, plus up to as much again, drawn at random, so that no two rounds meet
 * Linux's ticks in the same way.
 */
#define AHEAD_NS 1000000

/* Passed by the script in Linux that starts tasks; the program takes as long as it needs. */
static int seconds;
MODULE_PARM(seconds, "i");

/* A part, and the whole that it is of. */
struct part {
	long long size, whole;
};

/* The results for a frequency: sums over all rounds, but `least` is of the least reliable round. */
struct answer {
	struct part answered, real, imaginary, reliability, least;
	struct series late;
	int rounds;
};

static pthread_t thread;
static struct answer answers[FREQUENCIES];
static struct walsh walsh;

/* The next pseudo-random number, the same as in pillion-measure. */
static unsigned long long draw(void)
{
	static unsigned long long seed = 1;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 33;
}

static long long size(long long number)
{
	return number < 0 ? -number : number;
}

static void add(struct part *part, long long size, long long whole)
{
	part->size += size;
	part->whole += whole;
}

/*
 * Adds the results of a wave of length `time`; its delay is the mean delay of the answers. In half
 * nanoseconds, as the correlations are.
 */
static void keep(struct answer *answer, const struct series *late, long long time)
{
	long long delay = late->count ? (2 * late->sum + late->count / 2) / late->count : 0;
	struct part reliability = { size(walsh_correlation(&walsh, delay)), 2 * time };

	if (!answer->rounds || reliability.size < answer->least.size)
		answer->least = reliability;
	add(&answer->reliability, reliability.size, reliability.whole);
	add(&answer->real, walsh_correlation(&walsh, 0), 2 * time);
	add(&answer->imaginary, walsh_correlation(&walsh, walsh.period), 2 * time);
	answer->late.sum += late->sum;
	answer->late.count += late->count;
	answer->rounds++;
}

/*
 * Answers a wave. Its time 0 is its first edge, and its number of edges is even. Edges that pass
 * before the previous one is answered are lost. Returns whether at least half of them were
 * answered.
 */
static int answer(struct answer *answer, long long period, long long time)
{
	long long edges = time / period / 2 * 2;
	hrtime_t start, end, next, now;
	struct series late = { 0 };
	struct timespec edge;

	walsh_begin(&walsh, period);
	start = clock_gethrtime(CLOCK_RTL_SCHED) + AHEAD_NS + draw() % AHEAD_NS;
	end = start + edges * period;
	next = start;
	while (next < end) {
		edge = timespec_from_ns(next);
		clock_nanosleep(CLOCK_RTL_SCHED, TIMER_ABSTIME, &edge, NULL);
		now = clock_gethrtime(CLOCK_RTL_SCHED);
		if (now >= end)
			break;
		walsh_toggle(&walsh, now - start);
		series_add(&late, now - next);
		next = start + ((now - start) / period + 1) * period;
	}
	keep(answer, &late, end - start);
	add(&answer->answered, late.count, edges);
	return 2 * (long long)late.count >= edges;
}

/* A part in per cent, with two decimals. */
static const char *percent(char *text, const struct part *part)
{
	long long hundredths = part->size * 10000 / part->whole;

	sprintf(text, "%s%lld.%02lld", hundredths < 0 ? "-" : "", size(hundredths) / 100, size(hundredths) % 100);
	return text;
}

static int answers_all(const struct answer *answer)
{
	return answer->rounds == ROUNDS && answer->answered.size == answer->answered.whole;
}

/* Frequencies that not all rounds reached are left out. */
static void tell_curve(void)
{
	char one[16], other[16];
	unsigned int i;

	for (i = 0; i < FREQUENCIES && answers[i].rounds == ROUNDS; i++) {
		const struct answer *answer = &answers[i];

		line_say("points reliability 1/s %% %d:%s", frequencies[i], percent(one, &answer->reliability));
		line_say("points answered 1/s %% %d:%s", frequencies[i], percent(one, &answer->answered));
		line_say("points locus %% %% %s:%s", percent(one, &answer->real), percent(other, &answer->imaginary));
		line_say("points locus_frequency 1/s %% %d:%s", frequencies[i], percent(one, &answer->answered));
		if (answer->late.count)
			line_say("points late 1/s ns %d:%llu", frequencies[i], series_mean(&answer->late) / 10);
	}
}

/* The delay of the answers at a frequency where none is lost and each takes the same path. */
static void tell_lateness(void)
{
	unsigned int i;

	for (i = 0; i < FREQUENCIES; i++)
		if (frequencies[i] == 500000 && answers[i].late.count)
			line_say("figure late_500k %llu ns", series_mean(&answers[i].late) / 10);
}

/* The cut-off: the highest frequency up to which every edge was answered. */
static void tell_cut_off(void)
{
	unsigned int i = 0;
	char text[16];

	if (!answers_all(&answers[0])) {
		line_invalid("not even %d edges a second were answered", frequencies[0]);
		return;
	}
	while (i + 1 < FREQUENCIES && answers_all(&answers[i + 1]))
		i++;
	line_say("figure cut_off %d 1/s", frequencies[i]);
	line_say("figure cut_off_reliability %s %%", percent(text, &answers[i].reliability));
	line_say("figure cut_off_reliability_least %s %%", percent(text, &answers[i].least));
	line_say("figure cut_off_late %llu ns", series_mean(&answers[i].late) / 10);
}

static void *measure(void *unused)
{
	long long time = seconds ? BESIDE_NS : ALONE_NS;
	unsigned int i;
	int round;

	/*
	 * If fewer than half of the edges are answered, all that remains is a loop that reads the
	 * time.
	 */
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < FREQUENCIES && answer(&answers[i], 1000000000 / frequencies[i], time); i++)
			;
	tell_curve();
	tell_lateness();
	tell_cut_off();
	pillion_unload();
	return unused;
}

int init_module(void)
{
	return thread_start(&thread, PRIORITY, measure, NULL);
}

void cleanup_module(void)
{
	pthread_join(thread, NULL);
}
