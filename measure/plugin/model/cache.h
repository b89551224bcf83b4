/*
 * One level of a write-back, write-allocate cache: set-associative, the least recently used line is
 * replaced, the next level is asked on a miss.
 */
#ifndef MODEL_CACHE_H
#define MODEL_CACHE_H

#include "cost.h"

#include <stdbool.h>
#include <stddef.h>

struct cache_line {
	/* Number of the line in memory, shifted left, and the flags of cache.c; 0 when there is none. */
	uint64_t tag;
	uint64_t used;
};

struct cache {
	/* Towards memory; NULL for the last level. */
	struct cache *next;
	/* Towards the processor. What an inclusive level gives up, these have to give up too. */
	struct cache *inner[2];
	bool inclusive;

	uint64_t sets, ways;
	unsigned int line_shift;
	struct cache_line *lines;
	uint64_t clock;

	/* Charged for what is found here, the levels before it included. */
	cost hit;
	/* Charged for what is found in no level; of the last level only. */
	cost memory;
	/* Charged for handing a dirty line to the next level. */
	cost write_back;

	uint64_t accesses, misses, write_backs;
};

/* Sizes are powers of two, in bytes; false when they fit no cache or there is no memory for it. */
bool cache_make(struct cache *cache, uint64_t size, uint64_t ways, uint64_t line);
void cache_free(struct cache *cache);

/* Reads or writes the line of a physical address; says what it costs. */
cost cache_access(struct cache *cache, uint64_t address, bool write);

bool cache_holds(const struct cache *cache, uint64_t address);

/* Gives up all lines; the dirty ones count as written back, and cost nothing here. */
void cache_flush(struct cache *cache);

#endif
