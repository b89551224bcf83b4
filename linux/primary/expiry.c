// SPDX-License-Identifier: GPL-2.0-only
#include "expiry.h"

uint64_t primary_expired(const struct primary_expiry *expiry)
{
	int64_t late = expiry->next ? primary_now(expiry->clock) - expiry->next : -1;

	if (late < 0)
		return 0;
	return expiry->interval ? 1 + late / expiry->interval : 1;
}

void primary_expiry_read(struct primary_expiry *expiry, uint64_t times)
{
	expiry->next = expiry->interval ? primary_sum(expiry->next, primary_times(expiry->interval, times)) : 0;
}

struct primary_end primary_expires(const struct primary_expiry *expiry)
{
	return expiry->next ? PRIMARY_UNTIL(expiry->clock, expiry->next) : PRIMARY_FOREVER;
}

struct itimerspec primary_expiry_rest(const struct primary_expiry *expiry)
{
	int64_t now = primary_now(expiry->clock), rest = 0;

	if (expiry->next > now)
		rest = expiry->next - now;
	else if (expiry->next && expiry->interval)
		rest = expiry->interval - (now - expiry->next) % expiry->interval;
	return (struct itimerspec){ primary_timespec(expiry->interval), primary_timespec(rest) };
}
