/* What the measuring task shares with its partner, the shuffle's less urgent side. */
#ifndef RHEALSTONE_H
#define RHEALSTONE_H

#define LOW 30

/* Name of the mbuff. */
#define SHUFFLE "shuffle"

struct shuffle {
	volatile int samples;
	/* The partner's computation: from when it runs again until it releases. */
	volatile unsigned long long from, to;
};

/* Semaphores: to start the partner, to ask for what it holds, and what it holds. */
#define SHUFFLE_BEGIN "/shuffle-begin"
#define SHUFFLE_ASKED "/shuffle-asked"
#define SHUFFLE_TAKEN "/shuffle-taken"

#endif
