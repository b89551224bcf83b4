#include "span.h"

#include <inttypes.h>

enum { LONGEST_LINE = 200, LONGEST_POINT = 32 };

static void tell_series(const struct series *series, FILE *output, const char *name)
{
	char cycles[32];

	snprintf(cycles, sizeof cycles, "%s_cycles", name);
	histogram_tell(&series->time, output, name, "ns");
	histogram_tell(&series->cycles, output, cycles, "cycles");
}

/* One value of each piece of work, by the number of the piece. */
static void tell_works(const struct spans *spans, FILE *output, const char *name, const char *unit, enum count count,
		       uint64_t divisor)
{
	int column = 0;

	for (uint64_t i = 0; i < spans->work_count; i++) {
		if (column > LONGEST_LINE - LONGEST_POINT) {
			fputc('\n', output);
			column = 0;
		}
		if (!column)
			column = fprintf(output, "points %s 1 %s", name, unit);
		column += fprintf(output, " %" PRIu64 ":%" PRIu64, i,
				  spans->works[i].counts[count] / divisor);
	}
	if (column)
		fputc('\n', output);
}

/* The average counts of one part of a response. */
static void tell_part(const struct happened *sum, uint64_t samples, FILE *output, const char *name)
{
	static const char *const names[] = {"instructions", "l1i_misses", "l1d_misses", "l2_misses",
					    "l3_misses",    "walks",	  "write_backs", "device_accesses",
					    "space_loads",  "for_events"};

	for (enum count i = INSTRUCTIONS; samples && i <= FOR_EVENTS; i++) {
		uint64_t divisor = i == FOR_EVENTS ? CYCLE : 1;
		const char *unit = i == INSTRUCTIONS ? "instructions" : i == FOR_EVENTS ? "cycles" : "1";

		fprintf(output, "figure %s_%s %.3f %s\n", name, names[i],
			(double)sum->counts[i] / (double)(samples * divisor), unit);
	}
}

void spans_tell(const struct spans *spans, FILE *output)
{
	tell_series(&spans->entry, output, "entry");
	tell_series(&spans->handler, output, "handler");
	tell_series(&spans->total, output, "total");
	histogram_tell(&spans->counted, output, "counted", "ns");
	tell_part(&spans->in_entries, spans->total.cycles.samples, output, "entry");
	tell_part(&spans->in_handlers, spans->total.cycles.samples, output, "handler");
	tell_series(&spans->work, output, "work");
	tell_works(spans, output, "work_by_number", "cycles", CHARGED, CYCLE);
	tell_works(spans, output, "work_l1d_misses", "1", L1D_MISSES, 1);
	tell_works(spans, output, "work_l2_misses", "1", L2_MISSES, 1);
	tell_works(spans, output, "work_l3_misses", "1", L3_MISSES, 1);
	tell_works(spans, output, "work_walks", "1", WALKS, 1);
	tell_works(spans, output, "work_write_backs", "1", WRITE_BACKS, 1);
}
