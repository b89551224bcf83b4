/*
 * A curve: pairs of numbers in an array of the program. The second number of a pair is in
 * thousandths of its unit: in nanoseconds, if the unit is us.
 */
#ifndef MEASURE_POINTS_H
#define MEASURE_POINTS_H

#include "line.h"

struct point {
	unsigned long long x, thousandths;
};

struct points {
	struct point *list;
	unsigned int room, count, lost;
};

/* A curve that stores its points in an array. */
#define POINTS(array) { .list = (array), .room = sizeof(array) / sizeof((array)[0]) }

static inline void points_add(struct points *points, unsigned long long x, unsigned long long thousandths)
{
	if (points->count == points->room) {
		points->lost++;
		return;
	}
	points->list[points->count].x = x;
	points->list[points->count++].thousandths = thousandths;
}

/* Prints the points. `units` are those of the first and of the second numbers, such as `1 us`. */
static inline void points_tell(const struct points *points, const char *name, const char *units)
{
	const struct point *point;
	struct line line;
	char word[48];

	if (points->lost)
		line_invalid("%u points of %s did not fit", points->lost, name);
	line_begin(&line, "points", name, units);
	for (point = points->list; point < points->list + points->count; point++) {
		snprintf(word, sizeof(word), "%llu:%llu.%03llu", point->x, point->thousandths / 1000, point->thousandths % 1000);
		line_word(&line, word);
	}
	line_flush(&line);
}

#endif
