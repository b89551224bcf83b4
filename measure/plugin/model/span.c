#include "span.h"

void spans_init(struct spans *spans, uint64_t skip)
{
	spans->skip = skip;
	spans->global_flag = true;
}

static struct happened so_far(const struct machine *machine)
{
	const struct cache *caches = machine->caches;

	return (struct happened){
		.charged = machine_charged(machine),
		.for_events = machine->for_events,
		.instructions = machine->instructions,
		.l1i_misses = caches[L1_CODE].misses,
		.l1d_misses = caches[L1_DATA].misses,
		.l2_misses = caches[L2].misses,
		.l3_misses = caches[L3].misses,
		.walks = machine->walk.walks,
		.write_backs = caches[L1_DATA].write_backs + caches[L2].write_backs + caches[L3].write_backs,
		.device_accesses = machine->device_accesses,
		.space_loads = machine->space_loads,
	};
}

/* Adds what happened from one point to another. */
static void add_between(struct happened *sum, const struct happened *begin, const struct happened *end)
{
	sum->charged += end->charged - begin->charged;
	sum->for_events += end->for_events - begin->for_events;
	sum->instructions += end->instructions - begin->instructions;
	sum->l1i_misses += end->l1i_misses - begin->l1i_misses;
	sum->l1d_misses += end->l1d_misses - begin->l1d_misses;
	sum->l2_misses += end->l2_misses - begin->l2_misses;
	sum->l3_misses += end->l3_misses - begin->l3_misses;
	sum->walks += end->walks - begin->walks;
	sum->write_backs += end->write_backs - begin->write_backs;
	sum->device_accesses += end->device_accesses - begin->device_accesses;
	sum->space_loads += end->space_loads - begin->space_loads;
}

void spans_mode(struct spans *spans, const struct machine *machine, bool kernel)
{
	if (kernel && !spans->in_kernel) {
		spans->closed = so_far(machine);
		spans->flag = false;
	}
	spans->in_kernel = kernel;
	spans->halted = false;
}

static void clear_flag(struct spans *spans, const struct machine *machine)
{
	if (spans->flag && spans->global_flag)
		spans->closed = so_far(machine);
	spans->flag = false;
}

void spans_before(struct spans *spans, const struct machine *machine, enum event event)
{
	spans->halted = event == EVENT_HLT;
	switch (event) {
	case EVENT_STI:
		spans->flag = true;
		break;
	case EVENT_CLI:
		clear_flag(spans, machine);
		break;
	case EVENT_CLGI:
		spans->global_flag = false;
		break;
	case EVENT_STGI:
		spans->global_flag = true;
		break;
	case EVENT_VMRUN:
		spans->responding = false;
		break;
	case EVENT_VMEXIT:
		spans->closed = so_far(machine);
		spans->global_flag = false;
		break;
	default:
		break;
	}
}

/* While it sleeps, an interrupt is taken at once. */
struct happened spans_taken(const struct spans *spans, const struct machine *machine)
{
	return spans->halted || !spans->in_kernel ? so_far(machine) : spans->closed;
}

void spans_entered(struct spans *spans, const struct machine *machine, const struct happened *taken_at)
{
	spans->responding = true;
	spans->taken = *taken_at;
	spans->entered = so_far(machine);
	spans->flag = false;
}

static void add(struct series *series, const struct machine *machine, cost span)
{
	uint64_t cycles = (span + CYCLE / 2) / CYCLE;

	histogram_add(&series->cycles, cycles);
	histogram_add(&series->time, (uint64_t)((double)cycles * 1e9 / (double)machine->hertz + 0.5));
}

static void respond(struct spans *spans, const struct machine *machine)
{
	struct happened now = so_far(machine);

	if (!spans->responding)
		return;
	spans->responding = false;
	if (spans->responses++ < spans->skip)
		return;
	add(&spans->entry, machine, spans->entered.charged - spans->taken.charged);
	add(&spans->handler, machine, now.charged - spans->entered.charged);
	add(&spans->total, machine, now.charged - spans->taken.charged);
	add_between(&spans->in_entries, &spans->taken, &spans->entered);
	add_between(&spans->in_handlers, &spans->entered, &now);
}

static void end_work(struct spans *spans, const struct machine *machine)
{
	struct happened end = so_far(machine), work = {0};

	if (!spans->working)
		return;
	spans->working = false;
	if (spans->pieces++ < spans->skip)
		return;
	add_between(&work, &spans->begin, &end);
	add(&spans->work, machine, work.charged);
	if (spans->work_count < MOST_WORKS)
		spans->works[spans->work_count++] = work;
}

void spans_marker(struct spans *spans, const struct machine *machine, enum event marker)
{
	if (marker == EVENT_RESPONSE) {
		respond(spans, machine);
	} else if (marker == EVENT_UPTO) {
		end_work(spans, machine);
	} else if (marker == EVENT_FROM) {
		spans->working = true;
		spans->begin = so_far(machine);
	}
}
