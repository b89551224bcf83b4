#include "walk.h"

enum { PAGE_SHIFT = 12, NESTED_SHIFT = 21, TABLES_SHIFT = 15 };

/*
 * Beyond all memory: 128 MiB each for page tables of the host, of the guest (in guest-physical
 * addresses), and nested ones.
 */
enum region { HOST_TABLES, GUEST_TABLES, NESTED_TABLES };
#define TABLES (1ull << 40)

/* Mixes all bits of a value, so that its low bits can be used. */
static uint64_t mix(uint64_t value)
{
	value *= 0x9e3779b97f4a7c15ull;
	return value ^ value >> 29 ^ value >> 47;
}

static unsigned int index_bits(const struct walk *walk)
{
	return PAGE_SHIFT - (unsigned int)__builtin_ctzll(walk->entry);
}

/* The address of the entry that maps an address at a level; level 0 maps 4 KiB. */
static uint64_t entry_address(const struct walk *walk, enum region region, owner owner, unsigned int level,
			      uint64_t address)
{
	unsigned int shift = PAGE_SHIFT + level * index_bits(walk);
	uint64_t index = address >> shift & ((1u << index_bits(walk)) - 1);
	uint64_t table = mix((address >> shift >> index_bits(walk)) << 20 | (uint64_t)owner << 4 | level);
	uint64_t frame = (uint64_t)region << TABLES_SHIFT | (table & ((1u << TABLES_SHIFT) - 1));

	return TABLES + (frame << PAGE_SHIFT) + index * walk->entry;
}

static cost load(struct walk *walk, struct cache *data, uint64_t address)
{
	walk->loads++;
	return cache_access(data, address, false);
}

/* Translates a guest-physical address; returns the cost. */
static cost nested(struct walk *walk, struct cache *data, uint64_t address)
{
	cost cost = 0;

	if (!walk->nested_levels || (walk->nested.sets && tlb_access(&walk->nested, address >> NESTED_SHIFT, 1)))
		return 0;
	for (uint64_t level = walk->nested_levels; level-- > 0;)
		cost += load(walk, data, entry_address(walk, NESTED_TABLES, 0, (unsigned int)level + 1, address));
	return cost;
}

/* Whether all levels above the last are cached. */
static bool upper_known(struct walk *walk, uint64_t address, unsigned int last, owner owner)
{
	unsigned int shift = PAGE_SHIFT + (last + 1) * index_bits(walk);

	return walk->upper.sets && tlb_access(&walk->upper, (address >> shift & ((1ull << 40) - 1)) << 1 | last, owner);
}

cost walk(struct walk *walk, struct cache *data, uint64_t address, uint64_t physical, bool large, owner owner)
{
	bool guest = owner & 1;
	unsigned int last = large, level = (unsigned int)walk->levels;
	cost cost = walk->cycles;

	walk->walks++;
	if (upper_known(walk, address, last, owner))
		level = last + 1;
	while (level-- > last) {
		uint64_t entry = entry_address(walk, guest ? GUEST_TABLES : HOST_TABLES, owner, level, address);

		if (guest)
			cost += nested(walk, data, entry);
		cost += load(walk, data, entry);
	}
	return guest ? cost + nested(walk, data, physical) : cost;
}

void walk_flush(struct walk *walk)
{
	if (walk->upper.sets)
		tlb_flush(&walk->upper);
	if (walk->nested.sets)
		tlb_flush(&walk->nested);
}

void walk_flush_spaces(struct walk *walk, bool guest)
{
	if (walk->upper.sets)
		tlb_flush_spaces(&walk->upper, guest);
}

void walk_flush_guest(struct walk *walk, bool guest)
{
	if (walk->upper.sets)
		tlb_flush_guest(&walk->upper, guest);
}
