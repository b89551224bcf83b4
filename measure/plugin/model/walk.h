/*
 * Page walks: loads of page-table entries through the data caches. While a guest runs they are
 * two-dimensional: the address of each of its tables, and what is found at the end, is translated
 * by nested tables first.
 *
 * The tables' real addresses are not known. Each table has one that is computed from whose it is,
 * its level and what it maps: neighbouring entries share a line, as they do in the machine, and
 * tables are spread over the sets of the caches.
 */
#ifndef MODEL_WALK_H
#define MODEL_WALK_H

#include "cache.h"
#include "tlb.h"

struct walk {
	/*
	 * Levels of tables down to 4 KiB pages, and bytes of an entry: 4 and 8 with 64 bits, 2 and 4
	 * with 32.
	 */
	uint64_t levels, entry;
	/* Charged for each walk besides its loads. */
	cost cycles;
	/* Loads for a nested translation: 3 down to pages of 2 MiB. 0: walks have one dimension. */
	uint64_t nested_levels;
	/*
	 * What is remembered of the upper levels, so that only the last entry is loaded; no sets: nothing
	 * is.
	 */
	struct tlb upper;
	/* Nested translations, by 2 MiB. */
	struct tlb nested;

	uint64_t walks, loads;
};

/*
 * A virtual address that no TLB knew, and its physical one. `large`: it lies in a large page, one
 * level less.
 */
cost walk(struct walk *walk, struct cache *data, uint64_t address, uint64_t physical, bool large, owner owner);

void walk_flush(struct walk *walk);
void walk_flush_spaces(struct walk *walk, bool guest);
void walk_flush_guest(struct walk *walk, bool guest);

#endif
