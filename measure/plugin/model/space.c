#include "space.h"

#include <stdbool.h>

enum { PAGE_SHIFT = 12, FRAMES = 1 << 20 };

/* For each frame, the space whose code it holds, or 0. Frames beyond 4 GiB share entries. */
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
