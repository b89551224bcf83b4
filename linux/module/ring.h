/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linux's side of a byte ring. `written` and `read` count bytes and wrap at 2^64; byte n is at
 * n % size. `written` has one writer; `read` is advanced by compare-and-swap on whichever side took
 * bytes out.
 *
 * The other side may write anything into the counters at any time. Whatever they contain, nothing
 * here reaches outside the ring's data or loops without a bound.
 */
#ifndef RING_H
#define RING_H

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <asm/barrier.h>
#endif

/* How often inconsistent counters are read again. They may have been read at different times. */
#define RING_TRIES 8

struct ring {
	u8 *data;
	u64 size;
	u64 *written;
	u64 *read;
};

/* A part of a ring: at most two pieces of its data. */
struct ring_span {
	/* Count of the first byte. */
	u64 at;
	u8 *piece[2];
	u64 length[2];
};

/*
 * Reads both counters; false if they are impossible. The acquires pair with ring_publish() and
 * ring_consume() on the other side.
 */
static inline bool ring_look(const struct ring *ring, u64 *read, u64 *used)
{
	int i;

	for (i = 0; i < RING_TRIES; i++) {
		/* After this the space of bytes taken out may be written. */
		*read = smp_load_acquire(ring->read);
		/* After this the bytes in the ring may be read. */
		*used = smp_load_acquire(ring->written) - *read;
		if (*used <= ring->size)
			return true;
	}
	return false;
}

/* Number of bytes that can be taken out. Impossible counters count as an empty ring. */
static inline u64 ring_used(const struct ring *ring)
{
	u64 read, used;

	return ring_look(ring, &read, &used) ? used : 0;
}

/* Bytes that can be put in; none for impossible counters, which the real-time side repairs. */
static inline u64 ring_room(const struct ring *ring)
{
	u64 read, used;

	return ring_look(ring, &read, &used) ? ring->size - used : 0;
}

static inline u64 ring_span(const struct ring *ring, struct ring_span *span, u64 at, u64 count)
{
	u64 position;

	div64_u64_rem(at, ring->size, &position);
	span->at = at;
	span->piece[0] = ring->data + position;
	span->length[0] = min(count, ring->size - position);
	span->piece[1] = ring->data;
	span->length[1] = count - span->length[0];
	return count;
}

/*
 * Finds up to `count` bytes to take out; returns their number. They belong to the caller only after
 * ring_consume() succeeds.
 */
static inline u64 ring_readable(const struct ring *ring, struct ring_span *span, u64 count)
{
	u64 read, used;

	if (!ring_look(ring, &read, &used))
		return 0;
	return ring_span(ring, span, read, min(count, used));
}

/* Takes out a span's first `count` bytes; false if they are gone. This is a full barrier. */
static inline bool ring_consume(const struct ring *ring, const struct ring_span *span, u64 count)
{
	return cmpxchg64(ring->read, span->at, span->at + count) == span->at;
}

/* Finds room for up to `count` bytes; returns its size. One writer at a time. */
static inline u64 ring_writable(const struct ring *ring, struct ring_span *span, u64 count)
{
	u64 read, used;

	if (!ring_look(ring, &read, &used))
		return 0;
	return ring_span(ring, span, read + used, min(count, ring->size - used));
}

/* Puts in the first `count` bytes of a span, which the caller has filled. */
static inline void ring_publish(const struct ring *ring, const struct ring_span *span, u64 count)
{
	/* The bytes are written before they count. */
	smp_store_release(ring->written, span->at + count);
}

#endif
