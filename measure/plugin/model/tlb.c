#include "tlb.h"

#include <stdlib.h>
#include <string.h>

enum { VALID = 1, OWNER_SHIFT = 1, PAGE_SHIFT = 17 };

static bool power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

bool tlb_make(struct tlb *tlb, uint64_t entries, uint64_t ways)
{
	if (!ways || entries % ways || !power_of_two(entries / ways))
		return false;
	tlb->sets = entries / ways;
	tlb->ways = ways;
	tlb->entries = calloc(entries, sizeof *tlb->entries);
	for (size_t i = 0; i < RECENT; i++)
		tlb->recent[i] = tlb->entries;
	return tlb->entries;
}

void tlb_free(struct tlb *tlb)
{
	free(tlb->entries);
	tlb->entries = NULL;
}

/* Finds the translation, or the entry to replace. */
static struct tlb_entry *search(const struct tlb *tlb, uint64_t page, uint64_t key)
{
	struct tlb_entry *set = &tlb->entries[(page & (tlb->sets - 1)) * tlb->ways], *least = set;

	for (uint64_t way = 0; way < tlb->ways; way++) {
		if (set[way].key == key)
			return &set[way];
		if (set[way].used < least->used)
			least = &set[way];
	}
	return least;
}

bool tlb_access(struct tlb *tlb, uint64_t page, owner owner)
{
	uint64_t key = page << PAGE_SHIFT | (uint64_t)owner << OWNER_SHIFT | VALID;
	struct tlb_entry **recent = &tlb->recent[page & (RECENT - 1)];
	bool found;

	if ((*recent)->key != key)
		*recent = search(tlb, page, key);
	found = (*recent)->key == key;
	**recent = (struct tlb_entry){key, ++tlb->clock};
	tlb->accesses++;
	tlb->misses += !found;
	return found;
}

void tlb_flush(struct tlb *tlb)
{
	memset(tlb->entries, 0, tlb->sets * tlb->ways * sizeof *tlb->entries);
}

static owner owner_of(const struct tlb_entry *entry)
{
	return (owner)(entry->key >> OWNER_SHIFT);
}

void tlb_flush_spaces(struct tlb *tlb, bool guest)
{
	for (uint64_t i = 0; i < tlb->sets * tlb->ways; i++)
		if ((owner_of(&tlb->entries[i]) & 1) == guest && owner_of(&tlb->entries[i]) >> 1)
			tlb->entries[i] = (struct tlb_entry){0};
}

void tlb_flush_guest(struct tlb *tlb, bool guest)
{
	for (uint64_t i = 0; i < tlb->sets * tlb->ways; i++)
		if ((owner_of(&tlb->entries[i]) & 1) == guest)
			tlb->entries[i] = (struct tlb_entry){0};
}
