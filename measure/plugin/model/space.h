/*
 * Tracks which of the host's address spaces is active. The value of CR3 is not visible, but each
 * task's code is in pages of its own, so the first user page executed after a load of CR3
 * identifies the space.
 */
#ifndef MODEL_SPACE_H
#define MODEL_SPACE_H

#include <stdint.h>

/* CR3 is about to be loaded. */
void space_changes(void);

/* User code of the host is executed in a physical page; returns the number of its space. */
uint16_t space_at(uint64_t physical);

#endif
