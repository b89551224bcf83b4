/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that is absent until it is allowed to arrive: a copy to or from it stalls until then. */
#ifndef STALL_H
#define STALL_H

#include <stdbool.h>

struct stall;

/* NULL if Linux cannot do that. */
struct stall *stall_open(void);
/* A page that is absent. */
void *stall_page(struct stall *stall);
/* Waits until an access stalls; false if none does within a second. */
bool stall_begins(struct stall *stall);
/* The page arrives, full of zeros. The memory for all this is freed when the process ends. */
void stall_end(struct stall *stall);

#endif
