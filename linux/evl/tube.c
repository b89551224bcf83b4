// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tubes. An item that is the n-th to be sent lies in canister n % count. A canister's turn says
 * whose it is: 2 * (n / count) that of the sender of item n, one more that of its receiver.
 */
#include <evl/tube.h>

static unsigned long *turn_of(void *canisters, const struct evl_tube *tube, unsigned long item)
{
	return (unsigned long *)((char *)canisters + item % tube->count * tube->size);
}

void evl_tube_begin(struct evl_tube *tube, void *canisters, unsigned long count, unsigned long size)
{
	*tube = (struct evl_tube){ .count = count, .size = size };
	while (count--)
		*turn_of(canisters, tube, count) = 0;
}

/* Somebody else has taken the item each time that it tries again. */
void *evl_tube_claim(struct evl_tube *tube, void *canisters, bool fills)
{
	unsigned long *end = fills ? &tube->sent : &tube->received;
	unsigned long item = __atomic_load_n(end, __ATOMIC_RELAXED), *place, turn, wanted;

	if (!tube->count)
		return NULL;
	for (;;) {
		place = turn_of(canisters, tube, item);
		turn = __atomic_load_n(place, __ATOMIC_ACQUIRE);
		wanted = 2 * (item / tube->count) + !fills;
		if (turn < wanted)
			return NULL;
		if (turn > wanted)
			item = __atomic_load_n(end, __ATOMIC_RELAXED);
		else if (__atomic_compare_exchange_n(end, &item, item + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return place;
	}
}

void evl_tube_pass(void *canister)
{
	unsigned long *turn = canister;

	__atomic_store_n(turn, *turn + 1, __ATOMIC_RELEASE);
}
