/*
 * Which of the host's address spaces is active. The value of CR3 cannot be seen; but a task's code
 * lies in pages of its own, so that the first of its pages that is executed after a load of CR3
 * tells whose it is.
 */
#ifndef MODEL_SPACE_H
#define MODEL_SPACE_H

#include <stdint.h>

/* CR3 is about to be loaded. */
void space_changes(void);

/* User code of the host is executed in a physical page; says the number of its space. */
uint16_t space_at(uint64_t physical);

#endif
