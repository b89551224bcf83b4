// SPDX-License-Identifier: GPL-2.0-only
/* The module's ring for the host: substitutes for kernel headers, and copying as in fifo.c. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint64_t u64;

#define smp_load_acquire(word) __atomic_load_n(word, __ATOMIC_ACQUIRE)
#define smp_store_release(word, value) __atomic_store_n(word, value, __ATOMIC_RELEASE)
#define cmpxchg64(word, old, new) __sync_val_compare_and_swap(word, old, new)
#define min(a, b) ((a) < (b) ? (a) : (b))

static inline u64 div64_u64_rem(u64 value, u64 by, u64 *remainder)
{
	*remainder = value % by;
	return value / by;
}

#include "../../module/ring.h"

#define OUTSIDE (-1)

/* Whether both pieces lie within the ring's data. */
static bool inside(const struct ring *ring, const struct ring_span *span, u64 size)
{
	u64 start = span->piece[0] - ring->data;

	return size <= ring->size && span->length[0] + span->length[1] == size && start < ring->size &&
	       span->length[0] <= ring->size - start && span->piece[1] == ring->data && span->length[1] <= start;
}

int64_t test_take(const struct ring *ring, u8 *buffer, u64 count)
{
	struct ring_span span;
	u64 size;
	int i;

	for (i = 0; i < 8; i++) {
		size = ring_readable(ring, &span, count);
		if (!size)
			return 0;
		if (!inside(ring, &span, size) || size > count)
			return OUTSIDE;
		memcpy(buffer, span.piece[0], span.length[0]);
		memcpy(buffer + span.length[0], span.piece[1], span.length[1]);
		if (ring_consume(ring, &span, size))
			return size;
	}
	return 0;
}

int64_t test_put(const struct ring *ring, const u8 *buffer, u64 count)
{
	struct ring_span span;
	u64 size = ring_writable(ring, &span, count);

	if (!size)
		return 0;
	if (!inside(ring, &span, size) || size > count)
		return OUTSIDE;
	memcpy(span.piece[0], buffer, span.length[0]);
	memcpy(span.piece[1], buffer + span.length[0], span.length[1]);
	ring_publish(ring, &span, size);
	return size;
}

u64 test_used(const struct ring *ring)
{
	return ring_used(ring);
}

u64 test_room(const struct ring *ring)
{
	return ring_room(ring);
}
