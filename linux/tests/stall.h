/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that is not there until it is allowed to come: who copies to or from it stands still
 * meanwhile.
 */
#ifndef STALL_H
#define STALL_H

#include <stdbool.h>

struct stall;

/* NULL if Linux cannot do that. */
struct stall *stall_open(void);
/* A page that is not there. */
void *stall_page(struct stall *stall);
/* Waits until somebody stands still; false if nobody does in a second. */
bool stall_begins(struct stall *stall);
/* The page comes, full of zeros, and the memory for all of this goes with the process. */
void stall_end(struct stall *stall);

#endif
