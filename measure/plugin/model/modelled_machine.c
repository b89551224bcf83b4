#include "modelled_machine.h"

enum { PAGE_SHIFT = 12, LARGE_SHIFT = 21, ADDRESS_BITS = 48 };

/* Beyond memory and page tables: a page for each event, with what it reads and writes. */
#define EVENT_LINES (1ull << 41)

/* Kernels map their half identically in all address spaces, as global pages. */
static owner owner_of(const struct machine *machine, uint64_t address)
{
	return OWNER(machine->guest, address >> 63 ? 0 : machine->space + 1);
}

/* Looks an address up in a level's TLB for that page size. */
static bool known(struct tlb_pair *pair, uint64_t address, bool large, owner owner)
{
	uint64_t page = (address & ((1ull << ADDRESS_BITS) - 1)) >> (large ? LARGE_SHIFT : PAGE_SHIFT);

	if (!large || pair->large.sets)
		return tlb_access(large ? &pair->large : &pair->small, page, owner);
	/* The bit above the page number distinguishes large pages from small ones. */
	return tlb_access(&pair->small, page | 1ull << (ADDRESS_BITS - PAGE_SHIFT), owner);
}

static void translate(struct machine *machine, struct tlb_pair *first, uint64_t address, uint64_t physical, bool large)
{
	owner owner = owner_of(machine, address);

	if (known(first, address, large, owner))
		machine->extra += first->hit;
	else if (machine->second.small.sets && known(&machine->second, address, large, owner))
		machine->extra += machine->second.hit;
	else
		machine->extra += walk(&machine->walk, &machine->caches[L1_DATA], address, physical, large, owner);
}

void machine_fetch(struct machine *machine, uint64_t address, uint64_t physical, bool large)
{
	translate(machine, &machine->code, address, physical, large);
	machine->extra += cache_access(&machine->caches[L1_CODE], physical, false);
}

void machine_data(struct machine *machine, uint64_t address, uint64_t physical, bool large, bool write)
{
	translate(machine, &machine->data, address, physical, large);
	machine->extra += cache_access(&machine->caches[L1_DATA], physical, write);
}

void machine_uncached(struct machine *machine)
{
	machine->extra += machine->uncached;
	machine->device_accesses++;
}

static void flush(struct machine *machine, void (*one)(struct tlb *, bool), bool guest)
{
	struct tlb_pair *pairs[] = {&machine->code, &machine->data, &machine->second};

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		if (pairs[i]->small.sets)
			one(&pairs[i]->small, guest);
		if (pairs[i]->large.sets)
			one(&pairs[i]->large, guest);
	}
}

static void flush_one(struct tlb *tlb, bool guest)
{
	(void)guest;
	tlb_flush(tlb);
}

static void switch_world(struct machine *machine, bool guest)
{
	machine->guest = guest;
	if (machine->tags != TAGS_NONE)
		return;
	flush(machine, flush_one, guest);
	walk_flush(&machine->walk);
}

/* Address spaces with numbers of their own keep their translations across loads of CR3. */
static void load_cr3(struct machine *machine)
{
	if (machine->tags == TAGS_SPACE && !machine->guest)
		return;
	flush(machine, tlb_flush_spaces, machine->guest);
	walk_flush_spaces(&machine->walk, machine->guest);
}

static void load_cr4(struct machine *machine)
{
	flush(machine, tlb_flush_guest, machine->guest);
	walk_flush_guest(&machine->walk, machine->guest);
}

static void touch_lines(struct machine *machine, enum event event)
{
	uint64_t first = EVENT_LINES + ((uint64_t)event << PAGE_SHIFT);
	unsigned int shift = machine->caches[L1_DATA].line_shift;

	for (uint64_t i = 0; i < machine->events[event].lines; i++)
		machine->extra +=
			cache_access(&machine->caches[L1_DATA], first + (i << shift), event == EVENT_VMEXIT);
}

void machine_event(struct machine *machine, enum event event)
{
	machine->extra += machine->events[event].cycles;
	machine->for_events += machine->events[event].cycles;
	machine->space_loads += event == EVENT_CR3;
	touch_lines(machine, event);
	if (event == EVENT_CR3)
		load_cr3(machine);
	else if (event == EVENT_CR4)
		load_cr4(machine);
	else if (event == EVENT_VMRUN || event == EVENT_VMEXIT)
		switch_world(machine, event == EVENT_VMRUN);
}

void machine_space(struct machine *machine, uint16_t space)
{
	machine->space = space;
}
