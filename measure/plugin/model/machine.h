/*
 * The processor of the model: caches, TLBs, costs, and the cycles charged so far.
 */
#ifndef MODEL_MACHINE_H
#define MODEL_MACHINE_H

#include "cache.h"
#include "event.h"
#include "tlb.h"
#include "walk.h"

enum { MOST_LEVELS = 4 };
enum level { L1_CODE, L1_DATA, L2, L3 };

/*
 * TLBs of one level: for 4 KiB pages, and for large ones; without the latter, the former hold both.
 */
struct tlb_pair {
	struct tlb small, large;
	/* Charged for what is found here. */
	cost hit;
};

/* What the translations of different owners have to be told apart by. */
enum tags {
	/* Nothing: a world switch drops all translations. */
	TAGS_NONE,
	/* The guest's number (ASID, VPID): a load of CR3 drops those of its side that are not global. */
	TAGS_GUEST,
	/* The address space as well (PCID), on the host's side: Linux is as it is. */
	TAGS_SPACE,
};

struct event_cost {
	cost cycles;
	/* Lines of memory that the processor itself reads or writes: descriptors, control blocks. */
	uint64_t lines;
};

struct machine {
	uint64_t hertz;
	/* Of each instruction that finds all it needs in the first-level caches. */
	cost instruction;
	/* Of each access to a device's memory. */
	cost uncached;
	struct event_cost events[EVENTS];
	enum tags tags;

	struct cache caches[MOST_LEVELS];
	struct tlb_pair code, data, second;
	struct walk walk;

	/* State. */
	bool guest;
	uint16_t space;
	/* Executed; whoever executes counts them. */
	uint64_t instructions;
	/*
	 * For everything but the instructions themselves, and of that for events, without the lines that
	 * they touch.
	 */
	cost extra, for_events;
	/* Accesses to devices, and loads of CR3. */
	uint64_t device_accesses, space_loads;
};

/* What was charged since power-on. */
static inline cost machine_charged(const struct machine *machine)
{
	return machine->extra + machine->instructions * machine->instruction;
}

/* Fetches a line of code. */
void machine_fetch(struct machine *machine, uint64_t address, uint64_t physical, bool large);
void machine_data(struct machine *machine, uint64_t address, uint64_t physical, bool large, bool write);
void machine_uncached(struct machine *machine);

/* Charges an event and does what it does to TLBs and worlds. */
void machine_event(struct machine *machine, enum event event);

/*
 * Into another address space of the host: what its translations are known by when there are tags
 * for that. 0 is none.
 */
void machine_space(struct machine *machine, uint16_t space);

#endif
