#include "span.h"

void spans_init(struct spans *spans, uint64_t skip)
{
	spans->skip = skip;
	spans->global_flag = true;
}

void spans_mode(struct spans *spans, const struct machine *machine, bool kernel)
{
	if (kernel && !spans->in_kernel) {
		spans->closed = machine_charged(machine);
		spans->flag = false;
	}
	spans->in_kernel = kernel;
	spans->halted = false;
}

static void clear_flag(struct spans *spans, const struct machine *machine)
{
	if (spans->flag && spans->global_flag)
		spans->closed = machine_charged(machine);
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
		spans->closed = machine_charged(machine);
		spans->global_flag = false;
		break;
	default:
		break;
	}
}

/* While it sleeps, an interrupt is taken at once. */
cost spans_taken(const struct spans *spans, const struct machine *machine)
{
	return spans->halted || !spans->in_kernel ? machine_charged(machine) : spans->closed;
}

void spans_entered(struct spans *spans, const struct machine *machine, cost taken_at)
{
	spans->responding = true;
	spans->taken = taken_at;
	spans->entered = machine_charged(machine);
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
	if (!spans->responding)
		return;
	spans->responding = false;
	if (spans->responses++ < spans->skip)
		return;
	add(&spans->entry, machine, spans->entered - spans->taken);
	add(&spans->handler, machine, machine_charged(machine) - spans->entered);
	add(&spans->total, machine, machine_charged(machine) - spans->taken);
}

static struct happened so_far(const struct machine *machine)
{
	const struct cache *caches = machine->caches;

	return (struct happened){
		.charged = machine_charged(machine),
		.l1d_misses = caches[L1_DATA].misses,
		.l2_misses = caches[L2].misses,
		.l3_misses = caches[L3].misses,
		.walks = machine->walk.walks,
		.write_backs = caches[L1_DATA].write_backs + caches[L2].write_backs + caches[L3].write_backs,
	};
}

static struct happened since(const struct happened *begin, const struct happened *end)
{
	return (struct happened){
		.charged = end->charged - begin->charged,
		.l1d_misses = end->l1d_misses - begin->l1d_misses,
		.l2_misses = end->l2_misses - begin->l2_misses,
		.l3_misses = end->l3_misses - begin->l3_misses,
		.walks = end->walks - begin->walks,
		.write_backs = end->write_backs - begin->write_backs,
	};
}

static void end_work(struct spans *spans, const struct machine *machine)
{
	struct happened end = so_far(machine), work = since(&spans->begin, &end);

	if (!spans->working)
		return;
	spans->working = false;
	if (spans->pieces++ < spans->skip)
		return;
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
