/*
 * How reliably a thread answers a square wave, for rising frequencies: it toggles at each rising edge, of which the timer tells it, and each answer is
 * correlated with the wave (walsh.h).
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pillion.h>

#include "../../include/measure.h"
#include "walsh.h"

#define PRIORITY 50

/* Edges in a second: a row of preferred numbers. */
static const int frequencies[] = {
	500,   1000,   2000,   3150,   5000,   8000,   12500,  20000,  31500,  50000,
	80000, 100000, 125000, 160000, 200000, 250000, 315000, 400000, 500000, 630000, 800000,
	1000000, 1250000, 1600000, 2000000,
};
#define FREQUENCIES (sizeof(frequencies) / sizeof(frequencies[0]))

static int edges = 2000;
MODULE_PARM(edges, "i");
/* What starts it in Linux says how long there is; this takes as long as it takes. */
static int seconds;
MODULE_PARM(seconds, "i");

struct answer {
	struct walsh walsh;
	long long time;
	int toggles;
	struct series late;
};

static pthread_t thread;
static struct answer answers[FREQUENCIES];

/* Time 0 of the wave is its first edge; it has an even number of them. Edges that pass before the answer to the one before are lost. */
static void answer(struct answer *answer, long long period)
{
	hrtime_t start = clock_gethrtime(CLOCK_RTL_SCHED) + 100000 + 10 * period, end = start + edges * period;
	hrtime_t next = start, now;
	struct timespec edge;

	walsh_begin(&answer->walsh, period);
	while (next < end) {
		edge = timespec_from_ns(next);
		clock_nanosleep(CLOCK_RTL_SCHED, TIMER_ABSTIME, &edge, NULL);
		now = clock_gethrtime(CLOCK_RTL_SCHED);
		if (now >= end)
			break;
		walsh_toggle(&answer->walsh, now - start);
		series_add(&answer->late, (now - start) % period);
		answer->toggles++;
		next = start + ((now - start) / period + 1) * period;
	}
	walsh_until(&answer->walsh, end - start);
	answer->time = end - start;
}

/* A part in per cent, with two decimals. */
static const char *percent(char *text, long long part, long long whole)
{
	long long hundredths = part * 10000 / whole, size = hundredths < 0 ? -hundredths : hundredths;

	sprintf(text, "%s%lld.%02lld", hundredths < 0 ? "-" : "", size / 100, size % 100);
	return text;
}

static long long size(long long number)
{
	return number < 0 ? -number : number;
}

/* Of an ideal system, however late, real and imaginary part together have the size 1. */
static long long reliability(const struct answer *answer)
{
	return size(answer->walsh.real) + size(answer->walsh.imaginary);
}

static int answers_all(const struct answer *answer)
{
	return answer->toggles == edges;
}

static void tell_curve(void)
{
	char one[16], other[16];
	unsigned int i;

	for (i = 0; i < FREQUENCIES; i++) {
		const struct answer *answer = &answers[i];

		line_say("points reliability 1/s %% %d:%s", frequencies[i], percent(one, reliability(answer), answer->time));
		line_say("points answered 1/s %% %d:%s", frequencies[i], percent(one, answer->toggles, edges));
		line_say("points locus %% %% %s:%s", percent(one, answer->walsh.real, answer->time),
			 percent(other, answer->walsh.imaginary, answer->time));
		if (answer->late.count)
			line_say("points late 1/s ns %d:%llu", frequencies[i], series_mean(&answer->late) / 10);
	}
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
	line_say("figure cut_off_reliability %s %%", percent(text, reliability(&answers[i]), answers[i].time));
	line_say("figure cut_off_late %llu ns", series_mean(&answers[i].late) / 10);
}

static void *measure(void *unused)
{
	unsigned int i;

	for (i = 0; i < FREQUENCIES; i++)
		answer(&answers[i], 1000000000 / frequencies[i]);
	tell_curve();
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
