/* SPDX-License-Identifier: GPL-2.0-only */
/* When a timer expires that somebody reads: nothing happens at that time by itself. */
#ifndef PRIMARY_EXPIRY_H
#define PRIMARY_EXPIRY_H

#include <stdint.h>

#include "moment.h"

/* A part of each object that has one. The lock guards it. */
struct primary_expiry {
	clockid_t clock;
	/* The next time that nobody has read yet; 0: it is stopped. */
	int64_t next;
	/* What is between two; 0: there is one. */
	int64_t interval;
};

/* How often it has expired since that was last read. */
uint64_t primary_expired(const struct primary_expiry *expiry);
/* It was read that it has expired so often. */
void primary_expiry_read(struct primary_expiry *expiry, uint64_t times);
/* When it next expires: the end of a wait. */
struct primary_end primary_expires(const struct primary_expiry *expiry);
/* How long it is until then, and the interval. */
struct itimerspec primary_expiry_rest(const struct primary_expiry *expiry);

#endif
