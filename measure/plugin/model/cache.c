#include "cache.h"

#include <stdlib.h>

enum { VALID = 1, DIRTY = 2, FLAG_BITS = 2 };

static bool power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

bool cache_make(struct cache *cache, uint64_t size, uint64_t ways, uint64_t line)
{
	if (!ways || !power_of_two(line) || size % (ways * line) || !power_of_two(size / (ways * line)))
		return false;
	cache->sets = size / (ways * line);
	cache->ways = ways;
	cache->line_shift = (unsigned int)__builtin_ctzll(line);
	cache->lines = calloc(cache->sets * ways, sizeof *cache->lines);
	return cache->lines;
}

void cache_free(struct cache *cache)
{
	free(cache->lines);
	cache->lines = NULL;
}

static struct cache_line *set_of(const struct cache *cache, uint64_t number)
{
	return &cache->lines[(number & (cache->sets - 1)) * cache->ways];
}

static struct cache_line *find(const struct cache *cache, uint64_t number)
{
	struct cache_line *set = set_of(cache, number);

	for (uint64_t way = 0; way < cache->ways; way++)
		if ((set[way].tag & ~(uint64_t)DIRTY) == (number << FLAG_BITS | VALID))
			return &set[way];
	return NULL;
}

/* A free line counts as the least recently used. */
static struct cache_line *least_recently_used(const struct cache *cache, uint64_t number)
{
	struct cache_line *set = set_of(cache, number), *least = set;

	for (uint64_t way = 1; way < cache->ways; way++)
		if (set[way].used < least->used)
			least = &set[way];
	return least;
}

static void drop(struct cache_line *line)
{
	*line = (struct cache_line){0};
}

/* Makes the levels before this one evict a line; returns whether it was dirty in one of them. */
static bool drop_within(struct cache *cache, uint64_t number)
{
	bool dirty = false;

	for (int i = 0; i < 2; i++) {
		struct cache *inner = cache->inner[i];
		struct cache_line *line;

		if (!inner)
			continue;
		dirty |= drop_within(inner, number);
		line = find(inner, number);
		if (line) {
			dirty |= line->tag & DIRTY;
			drop(line);
		}
	}
	return dirty;
}

static cost hand_down(struct cache *cache, uint64_t number);

/* Makes room in the line's set and inserts the line. */
static cost insert(struct cache *cache, uint64_t number, bool dirty)
{
	struct cache_line *line = least_recently_used(cache, number);
	struct cache_line victim = *line;
	cost cost = 0;

	*line = (struct cache_line){number << FLAG_BITS | VALID | (dirty ? DIRTY : 0), ++cache->clock};
	if (!(victim.tag & VALID))
		return 0;
	if (cache->inclusive && drop_within(cache, victim.tag >> FLAG_BITS))
		victim.tag |= DIRTY;
	if (victim.tag & DIRTY)
		cost += hand_down(cache, victim.tag >> FLAG_BITS);
	return cost;
}

/* Writes a dirty line to the next level, which may have to make room for it. */
static cost hand_down(struct cache *cache, uint64_t number)
{
	struct cache_line *line;

	cache->write_backs++;
	if (!cache->next)
		return cache->write_back;
	line = find(cache->next, number);
	if (!line)
		return cache->write_back + insert(cache->next, number, true);
	line->tag |= DIRTY;
	line->used = ++cache->next->clock;
	return cache->write_back;
}

cost cache_access(struct cache *cache, uint64_t address, bool write)
{
	uint64_t number = address >> cache->line_shift;
	struct cache_line *line = find(cache, number);
	cost cost;

	cache->accesses++;
	if (line) {
		line->used = ++cache->clock;
		line->tag |= write ? DIRTY : 0;
		return cache->hit;
	}
	cache->misses++;
	cost = cache->next ? cache_access(cache->next, address, false) : cache->memory;
	return cost + insert(cache, number, write);
}

bool cache_holds(const struct cache *cache, uint64_t address)
{
	return find(cache, address >> cache->line_shift);
}

void cache_flush(struct cache *cache)
{
	for (uint64_t i = 0; i < cache->sets * cache->ways; i++) {
		cache->write_backs += (cache->lines[i].tag & DIRTY) != 0;
		drop(&cache->lines[i]);
	}
}
