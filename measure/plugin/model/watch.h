/*
 * Tells the model what the emulated processor fetches, loads, stores and does.
 *
 * The emulator may begin and end its blocks anywhere; what the model sees does not depend on that.
 * Instructions are counted one by one, and a line is fetched whenever it differs from the last one.
 */
#ifndef MODEL_WATCH_H
#define MODEL_WATCH_H

#include "../plugin.h"
#include "modelled_machine.h"
#include "span.h"

enum { MOST_ENTRIES = 16 };

struct watch {
	struct machine machine;
	struct spans spans;
	/*
	 * Instructions counted on the processor; the machine's own number lags behind except when
	 * it is read.
	 */
	struct counter executed;
	/* The kernel's first instructions for interrupts. */
	uint64_t entries[MOST_ENTRIES];
	size_t entry_count;
	/* Pages that are small although they look large. */
	uint64_t small_first, small_last;
	/* The program has finished measuring: nothing more is charged. */
	bool done;
};

/* Global: the emulator has one processor, and not all callbacks carry a pointer of ours. */
extern struct watch watch;

/*
 * Registers an entry point of the kernel for interrupts; returns false if there are too many. Code
 * that was translated before is not hooked.
 */
bool watch_entry(uint64_t address);

/* A block of instructions is being translated: hooks everything that it will do. */
void watch_block(plugin_id id, struct qemu_plugin_tb *block);

#endif
