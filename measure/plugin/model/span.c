#include "span.h"

/*
 * Error, in instructions, of a program's own measure of its lateness: reading a clock takes some,
 * and a timer's resolution hides some.
 */
enum { MISTAKE = 200 };
/*
 * A pending interrupt is taken this many instructions after the start of the one that enables
 * interrupts: STI enables them only after the next instruction.
 */
enum { SHADOW = 2 };

void spans_init(struct spans *spans, uint64_t skip)
{
	spans->skip = skip;
	spans->global_flag = true;
}

static struct happened so_far(const struct machine *machine)
{
	const struct cache *caches = machine->caches;

	return (struct happened){.counts = {
		[INSTRUCTIONS] = machine->instructions,
		[L1I_MISSES] = caches[L1_CODE].misses,
		[L1D_MISSES] = caches[L1_DATA].misses,
		[L2_MISSES] = caches[L2].misses,
		[L3_MISSES] = caches[L3].misses,
		[WALKS] = machine->walk.walks,
		[WRITE_BACKS] = caches[L1_DATA].write_backs + caches[L2].write_backs + caches[L3].write_backs,
		[DEVICE_ACCESSES] = machine->device_accesses,
		[SPACE_LOADS] = machine->space_loads,
		[FOR_EVENTS] = machine->for_events,
		[CHARGED] = machine_charged(machine),
	}};
}

/* Adds what happened between two points. */
static void add_between(struct happened *sum, const struct happened *begin, const struct happened *end)
{
	for (enum count i = 0; i < COUNTS; i++)
		sum->counts[i] += end->counts[i] - begin->counts[i];
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

static void set_flag(struct spans *spans, const struct machine *machine)
{
	spans->flag = true;
	spans->opened = machine->instructions;
}

/*
 * A CLI right after STI or IRET disables nothing, because nothing was enabled: no interrupt is
 * taken right after STI; and the only kernel with a CLI right after an IRET returns there with
 * interrupts off, which the model cannot see.
 */
static void clear_flag(struct spans *spans, const struct machine *machine)
{
	if (spans->flag && spans->global_flag && machine->instructions - spans->opened >= SHADOW)
		spans->closed = so_far(machine);
	spans->flag = false;
}

void spans_before(struct spans *spans, const struct machine *machine, enum event event)
{
	spans->halted = event == EVENT_HLT;
	switch (event) {
	case EVENT_STI:
	case EVENT_IRET:
		set_flag(spans, machine);
		break;
	case EVENT_CLI:
		clear_flag(spans, machine);
		break;
	case EVENT_CLGI:
		spans->global_flag = false;
		break;
	case EVENT_STGI:
		spans->global_flag = true;
		spans->opened = machine->instructions;
		break;
	case EVENT_VMRUN:
		spans->interrupt_count = 0;
		break;
	case EVENT_VMEXIT:
		spans->closed = so_far(machine);
		spans->global_flag = false;
		break;
	default:
		break;
	}
}

/*
 * If interrupts have been enabled for a while, the interrupt has just come; if they have only just
 * been enabled, it may have waited since they were disabled.
 */
struct happened spans_taken(const struct spans *spans, const struct machine *machine)
{
	bool open = spans->flag && spans->global_flag && machine->instructions - spans->opened > SHADOW;

	return spans->halted || !spans->in_kernel || open ? so_far(machine) : spans->closed;
}

void spans_entered(struct spans *spans, const struct machine *machine, const struct happened *taken_at)
{
	spans->interrupts[spans->interrupt_count++ % MOST_INTERRUPTS] = (struct interrupt){*taken_at, so_far(machine)};
	spans->flag = false;
}

/* Adds the charges between two points as a sample. */
static void add(struct series *series, const struct machine *machine, const struct happened *begin,
		const struct happened *end)
{
	uint64_t cycles = (end->counts[CHARGED] - begin->counts[CHARGED] + CYCLE / 2) / CYCLE;

	histogram_add(&series->cycles, cycles);
	histogram_add(&series->time, (uint64_t)((double)cycles * 1e9 / (double)machine->hertz + 0.5));
}

static bool is_sample(struct spans *spans)
{
	return spans->responses++ >= spans->skip;
}

static void respond(struct spans *spans, const struct machine *machine, const struct interrupt *to,
		    const struct happened *now)
{
	add(&spans->entry, machine, &to->taken, &to->entered);
	add(&spans->handler, machine, &to->entered, now);
	add(&spans->total, machine, &to->taken, now);
	add_between(&spans->in_entries, &to->taken, &to->entered);
	add_between(&spans->in_handlers, &to->entered, now);
}

static struct interrupt *interrupt(struct spans *spans, uint64_t number)
{
	return &spans->interrupts[number % MOST_INTERRUPTS];
}

static void respond_to_last(struct spans *spans, const struct machine *machine)
{
	struct happened now = so_far(machine);

	if (spans->interrupt_count && is_sample(spans))
		respond(spans, machine, interrupt(spans, spans->interrupt_count - 1), &now);
	spans->interrupt_count = 0;
}

/*
 * The first interrupt since `due`, in instructions; if there is none, the last one before, which
 * was still being handled then. NULL if there was none at all.
 */
static struct interrupt *interrupt_since(struct spans *spans, uint64_t due, uint64_t woke)
{
	uint64_t count = spans->interrupt_count;
	struct interrupt *found = NULL;

	for (uint64_t i = count > MOST_INTERRUPTS ? count - MOST_INTERRUPTS : 0; i < count; i++) {
		if (interrupt(spans, i)->entered.counts[INSTRUCTIONS] > woke)
			break;
		found = interrupt(spans, i);
		if (found->entered.counts[INSTRUCTIONS] + MISTAKE >= due)
			break;
	}
	return found;
}

static void respond_late(struct spans *spans, const struct machine *machine, uint64_t late)
{
	uint64_t woke = spans->woke.counts[INSTRUCTIONS], due = woke > late ? woke - late : 0;
	struct interrupt *to = spans->woken ? interrupt_since(spans, due, woke) : NULL;

	if (to && is_sample(spans)) {
		respond(spans, machine, to, &spans->woke);
		histogram_add(&spans->counted, late);
	}
	spans->woken = false;
	spans->interrupt_count = 0;
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
	add(&spans->work, machine, &spans->begin, &end);
	if (spans->work_count < MOST_WORKS)
		spans->works[spans->work_count++] = work;
}

void spans_bit(struct spans *spans, enum event event)
{
	spans->number = spans->number << 1 | (event == EVENT_ONE);
}

uint64_t spans_number(struct spans *spans)
{
	uint64_t number = spans->number;

	spans->number = 0;
	return number;
}

void spans_marker(struct spans *spans, const struct machine *machine, enum event marker)
{
	switch (marker) {
	case EVENT_RESPONSE:
		respond_to_last(spans, machine);
		break;
	case EVENT_WOKE:
		spans->woken = true;
		spans->woke = so_far(machine);
		break;
	case EVENT_ZERO:
	case EVENT_ONE:
		spans_bit(spans, marker);
		break;
	case EVENT_LATE:
		respond_late(spans, machine, spans_number(spans));
		break;
	case EVENT_FROM:
		spans->working = true;
		spans->begin = so_far(machine);
		break;
	case EVENT_UPTO:
		end_work(spans, machine);
		break;
	default:
		break;
	}
}
