/*
 * Page walks: loads of page-table entries through the data caches. While a guest runs, walks are
 * two-dimensional: nested tables first translate the address of each guest table, and the final
 * address.
 *
 * The tables' real addresses are not known. Each table gets an address computed from its owner, its
 * level and the range it maps: neighbouring entries share a line, as they do in the machine, and
 * tables are spread over the sets of the caches.
 */
#ifndef MODEL_WALK_H
#define MODEL_WALK_H

#include "cache.h"
#include "tlb.h"

struct walk {
	/*
	 * Levels of tables down to 4 KiB pages, and bytes of an entry: 4 and 8 for 64 bits, 2 and
	 * 4 for 32.
	 */
	uint64_t levels, entry;
	/* Charged for each walk in addition to its loads. */
	cost cycles;
	/* Loads for a nested translation: 3 down to pages of 2 MiB. 0: walks have one dimension. */
	uint64_t nested_levels;
	/*
	 * The upper levels that are cached, so that only the last entry is loaded; without sets,
	 * nothing is cached.
	 */
	struct tlb upper;
	/* Nested translations, in units of 2 MiB. */
	struct tlb nested;

	uint64_t walks, loads;
};

/*
 * Walks the tables for a virtual address that missed in all TLBs; `physical` is its translation.
 * `large`: it is in a large page, which takes one level less.
 */
cost walk(struct walk *walk, struct cache *data, uint64_t address, uint64_t physical, bool large, owner owner);

void walk_flush(struct walk *walk);
void walk_flush_spaces(struct walk *walk, bool guest);
void walk_flush_guest(struct walk *walk, bool guest);

#endif
