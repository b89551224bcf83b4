#include "space.h"

#include <stdbool.h>

enum { PAGE_SHIFT = 12, FRAMES = 1 << 20 };

/*
 * The space that executes a frame's code, by the frame's number; 0 is none. Memory beyond 4 GiB has
 * no spaces of its own.
 */
static uint16_t owner_of_frame[FRAMES];
static uint16_t current, spaces;
static bool changed = true;

void space_changes(void)
{
	changed = true;
}

uint16_t space_at(uint64_t physical)
{
	uint64_t frame = physical >> PAGE_SHIFT & (FRAMES - 1);

	if (changed)
		current = owner_of_frame[frame] ? owner_of_frame[frame] : ++spaces;
	changed = false;
	owner_of_frame[frame] = current;
	return current;
}
