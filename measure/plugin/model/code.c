#include "code.h"

#include <stdbool.h>

/* Where kernels are mapped: Pillion's, and Linux's without a random offset. */
#define IMAGE 0xffffffff80000000ull
/* More than the emulated machine's memory; beyond it is firmware. */
#define MOST_MEMORY (1ull << 36)

uint64_t code_physical(uint64_t address, const void *in_emulator)
{
	static bool known;
	static uint64_t memory;
	uint64_t place = (uint64_t)(uintptr_t)in_emulator;

	if (!known && address >= IMAGE && place) {
		known = true;
		memory = place - (address - IMAGE);
	}
	if (!known || place < memory || place - memory >= MOST_MEMORY)
		return address & (MOST_MEMORY - 1);
	return place - memory;
}
