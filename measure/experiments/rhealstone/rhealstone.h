/*
 * What the task that measures shares with its partner, the less urgent side of the shuffle between
 * two address spaces.
 */
#ifndef RHEALSTONE_H
#define RHEALSTONE_H

#define LOW 30

/* Of this name, as an mbuff. */
#define SHUFFLE "shuffle"

struct shuffle {
	volatile int samples;
	/* What the partner computed: from when it ran again to when it gives back what it has. */
	volatile unsigned long long from, to;
};

/* Semaphores: the partner begins; it has what is wanted, and gives it back. */
#define SHUFFLE_BEGIN "/shuffle-begin"
#define SHUFFLE_ASKED "/shuffle-asked"
#define SHUFFLE_TAKEN "/shuffle-taken"

#endif
