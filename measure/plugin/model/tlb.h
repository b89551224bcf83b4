/*
 * A table of translations: set-associative, with least-recently-used replacement. Also used for the
 * paging-structure caches that hold the upper levels of page tables.
 */
#ifndef MODEL_TLB_H
#define MODEL_TLB_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The owner of translations: bit 0 distinguishes guest from host, the rest is the address space; 0
 * there is for global pages, which are the same in all spaces.
 */
typedef uint16_t owner;

#define OWNER(guest, space) ((owner)((space) << 1 | (guest)))

struct tlb_entry {
	/* Page number, owner and a valid bit in one word; 0 if the entry is free. */
	uint64_t key;
	uint64_t used;
};

/* Where pages were last found, indexed by their low bits, to save searches. */
enum { RECENT = 64 };

struct tlb {
	uint64_t sets, ways;
	struct tlb_entry *entries;
	struct tlb_entry *recent[RECENT];
	uint64_t clock;
	uint64_t accesses, misses;
};

/* As many ways as entries make it fully associative. */
bool tlb_make(struct tlb *tlb, uint64_t entries, uint64_t ways);
void tlb_free(struct tlb *tlb);

/* Looks a page up, and inserts it if it was not there. Page numbers have at most 47 bits. */
bool tlb_access(struct tlb *tlb, uint64_t page, owner owner);

void tlb_flush(struct tlb *tlb);
/* Drops what a load of CR3 drops: the guest's (or host's) non-global translations. */
void tlb_flush_spaces(struct tlb *tlb, bool guest);
/* Drops what a change of CR4 drops: the global ones as well. */
void tlb_flush_guest(struct tlb *tlb, bool guest);

#endif
