/*
 * One level of a write-back, write-allocate cache: set-associative, with least-recently-used
 * replacement; a miss goes to the next level.
 */
#ifndef MODEL_CACHE_H
#define MODEL_CACHE_H

#include "cost.h"

#include <stdbool.h>
#include <stddef.h>

struct cache_line {
	/*
	 * Number of the line in memory, shifted left, and the flags of cache.c; 0 if the line is
	 * free.
	 */
	uint64_t tag;
	uint64_t used;
};

struct cache {
	/* Towards memory; NULL for the last level. */
	struct cache *next;
	/* Towards the processor. Lines that an inclusive level evicts must be evicted here too. */
	struct cache *inner[2];
	bool inclusive;

	uint64_t sets, ways;
	unsigned int line_shift;
	struct cache_line *lines;
	uint64_t clock;

	/* Charged for a hit in this level, including the levels before it. */
	cost hit;
	/* Charged for a miss in all levels; used only in the last level. */
	cost memory;
	/* Charged for writing a dirty line back to the next level. */
	cost write_back;

	uint64_t accesses, misses, write_backs;
};

/* Sizes are powers of two, in bytes. Returns false if they fit no cache, or memory is short. */
bool cache_make(struct cache *cache, uint64_t size, uint64_t ways, uint64_t line);
void cache_free(struct cache *cache);

/* Reads or writes the line of a physical address; returns the cost. */
cost cache_access(struct cache *cache, uint64_t address, bool write);

bool cache_holds(const struct cache *cache, uint64_t address);

/* Evicts all lines; the dirty ones count as written back, at no cost here. */
void cache_flush(struct cache *cache);

#endif
