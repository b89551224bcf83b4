/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread gives its turn to another one and waits, while its registers hold a pattern. */
#ifndef HOLD_H
#define HOLD_H

#include <linux/futex.h>

#include "registers.h"

struct hold {
	/* What is loaded, and what is found afterwards; NULL: no registers are looked at. */
	const struct registers *loaded;
	struct registers *found;
	/* Words that are 1 if it is a thread's turn: the other's, which may be NULL, its own. */
	uint32_t *other;
	uint32_t *own;
	/* To wait in Linux; NULL: in primary mode, if the thread may be there. */
	struct futex_waitv *in_linux;
	/* Set if it waited: the turn can also come first. */
	bool has_waited;
};

_Static_assert(offsetof(struct hold, in_linux) == 32, "as in hold.S");
_Static_assert(offsetof(struct hold, has_waited) == 40, "as in hold.S");

void hold(struct hold *hold);

#endif
