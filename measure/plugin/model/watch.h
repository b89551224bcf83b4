/*
 * Tells the model what the emulated processor fetches, loads, stores and does.
 *
 * The emulator may begin and end its blocks anywhere; what is told to the model does not depend on
 * that. Instructions are counted one by one, and a line is fetched when another one was before.
 */
#ifndef MODEL_WATCH_H
#define MODEL_WATCH_H

#include "../plugin.h"
#include "machine.h"
#include "span.h"

enum { MOST_ENTRIES = 16 };

struct watch {
	struct machine machine;
	struct spans spans;
	/*
	 * What was watched of the processor; the machine's own number is behind, but for when it is looked
	 * at.
	 */
	struct counter executed;
	/* The kernel's first instructions for interrupts. */
	uint64_t entries[MOST_ENTRIES];
	size_t entry_count;
	/* Pages that are small although they look like large ones. */
	uint64_t small_first, small_last;
	/* The program has measured: nothing is charged any more. */
	bool done;
};

/* The emulator has one processor, and its callbacks carry no pointer of ours everywhere. */
extern struct watch watch;

/*
 * The kernel is entered there by interrupts; false when there are too many. What was translated
 * before is not hooked.
 */
bool watch_entry(uint64_t address);

/* A block of instructions is translated: hooks all that it will do. */
void watch_block(plugin_id id, struct qemu_plugin_tb *block);

#endif
