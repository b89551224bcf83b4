#include "span.h"

#include <inttypes.h>
#include <stddef.h>

enum { LONGEST_LINE = 200, LONGEST_POINT = 32 };

static void tell_series(const struct series *series, FILE *output, const char *name)
{
	char cycles[32];

	snprintf(cycles, sizeof cycles, "%s_cycles", name);
	histogram_tell(&series->time, output, name, "ns");
	histogram_tell(&series->cycles, output, cycles, "cycles");
}

/* One value of each piece of work, by the number of the piece. */
static void tell_works(const struct spans *spans, FILE *output, const char *name, const char *unit, size_t offset,
		       uint64_t divisor)
{
	int column = 0;

	for (uint64_t i = 0; i < spans->work_count; i++) {
		const char *work = (const char *)&spans->works[i];
		uint64_t value = *(const uint64_t *)(work + offset);

		if (column > LONGEST_LINE - LONGEST_POINT) {
			fputc('\n', output);
			column = 0;
		}
		if (!column)
			column = fprintf(output, "points %s 1 %s", name, unit);
		column += fprintf(output, " %" PRIu64 ":%" PRIu64, i, value / divisor);
	}
	if (column)
		fputc('\n', output);
}

/* The average counts of one part of a response. */
static void tell_part(const struct happened *sum, uint64_t samples, FILE *output, const char *name)
{
	static const struct {
		const char *name, *unit;
		size_t offset;
		uint64_t divisor;
	} counts[] = {
		{"instructions", "instructions", offsetof(struct happened, instructions), 1},
		{"l1i_misses", "1", offsetof(struct happened, l1i_misses), 1},
		{"l1d_misses", "1", offsetof(struct happened, l1d_misses), 1},
		{"l2_misses", "1", offsetof(struct happened, l2_misses), 1},
		{"l3_misses", "1", offsetof(struct happened, l3_misses), 1},
		{"walks", "1", offsetof(struct happened, walks), 1},
		{"write_backs", "1", offsetof(struct happened, write_backs), 1},
		{"device_accesses", "1", offsetof(struct happened, device_accesses), 1},
		{"space_loads", "1", offsetof(struct happened, space_loads), 1},
		{"for_events", "cycles", offsetof(struct happened, for_events), CYCLE},
	};

	for (size_t i = 0; samples && i < sizeof counts / sizeof counts[0]; i++) {
		uint64_t value = *(const uint64_t *)((const char *)sum + counts[i].offset);

		fprintf(output, "figure %s_%s %.3f %s\n", name, counts[i].name,
			(double)value / (double)(samples * counts[i].divisor), counts[i].unit);
	}
}

void spans_tell(const struct spans *spans, FILE *output)
{
	static const struct {
		const char *name;
		size_t offset;
	} counts[] = {
		{"work_l1d_misses", offsetof(struct happened, l1d_misses)},
		{"work_l2_misses", offsetof(struct happened, l2_misses)},
		{"work_l3_misses", offsetof(struct happened, l3_misses)},
		{"work_walks", offsetof(struct happened, walks)},
		{"work_write_backs", offsetof(struct happened, write_backs)},
	};

	tell_series(&spans->entry, output, "entry");
	tell_series(&spans->handler, output, "handler");
	tell_series(&spans->total, output, "total");
	histogram_tell(&spans->counted, output, "counted", "ns");
	tell_part(&spans->in_entries, spans->total.cycles.samples, output, "entry");
	tell_part(&spans->in_handlers, spans->total.cycles.samples, output, "handler");
	tell_series(&spans->work, output, "work");
	tell_works(spans, output, "work_by_number", "cycles", offsetof(struct happened, charged), CYCLE);
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		tell_works(spans, output, counts[i].name, "1", counts[i].offset, 1);
}
