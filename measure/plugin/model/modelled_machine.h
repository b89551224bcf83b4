/* The model's processor: caches, TLBs, costs, and the cycles charged so far. */
#ifndef MODEL_MODELLED_MACHINE_H
#define MODEL_MODELLED_MACHINE_H

#include "cache.h"
#include "event.h"
#include "tlb.h"
#include "walk.h"

enum { MOST_LEVELS = 4 };
enum level { L1_CODE, L1_DATA, L2, L3 };

/* TLBs of one level: for 4 KiB pages, and for large ones; without the latter, one for both. */
struct tlb_pair {
	struct tlb small, large;
	/* Charged for a hit in this level. */
	cost hit;
};

/* The tags that distinguish translations of different owners. */
enum tags {
	/* None: a world switch drops all translations. */
	TAGS_NONE,
	/*
	 * The guest's number (ASID, VPID): a load of CR3 drops the non-global translations of its
	 * side.
	 */
	TAGS_GUEST,
	/* The address space as well (PCID), on the host's side; Linux stays as it is. */
	TAGS_SPACE,
};

struct event_cost {
	cost cycles;
	/* Lines of memory that the processor itself accesses: descriptors, control blocks. */
	uint64_t lines;
};

struct machine {
	uint64_t hertz;
	/* Cost of an instruction that hits the first-level caches throughout. */
	cost instruction;
	/* Cost of an access to a device's memory. */
	cost uncached;
	struct event_cost events[EVENTS];
	enum tags tags;

	struct cache caches[MOST_LEVELS];
	struct tlb_pair code, data, second;
	struct walk walk;

	/* State. */
	bool guest;
	uint16_t space;
	/* Executed instructions; the caller counts them. */
	uint64_t instructions;
	/*
	 * Charged for everything except the instructions themselves; and the part of that for
	 * events, without the lines that they touch.
	 */
	cost extra, for_events;
	/* Accesses to devices, and loads of CR3. */
	uint64_t device_accesses, space_loads;
};

/* The cost charged since power-on. */
static inline cost machine_charged(const struct machine *machine)
{
	return machine->extra + machine->instructions * machine->instruction;
}

/* Fetches a line of code. */
void machine_fetch(struct machine *machine, uint64_t address, uint64_t physical, bool large);
void machine_data(struct machine *machine, uint64_t address, uint64_t physical, bool large, bool write);
void machine_uncached(struct machine *machine);

/* Charges an event, and applies its effect on TLBs and worlds. */
void machine_event(struct machine *machine, enum event event);

/*
 * Switches to another address space of the host; `space` tags its translations if there are tags
 * for that. 0 is no space.
 */
void machine_space(struct machine *machine, uint16_t space);

#endif
