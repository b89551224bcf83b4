/* State that the measuring task shares with its partner, which keeps the broker busy. */
#ifndef KLT_H
#define KLT_H

/* Name of the mbuff. */
#define SHARED "klt"

struct shared {
	/* When low asked for the section; NEVER_BEGAN until it has. */
	volatile unsigned long long began;
	volatile int is_over;
};

#define NEVER_BEGAN (~0ULL)

/* The semaphore that starts the partner, and the queue for its messages. */
#define PARTNER_BEGIN "/klt-begin"
#define LOW_QUEUE "/klt-low"

#define MESSAGE 4096
/* Less urgent than the thread that posts: the partner begins when that thread sleeps. */
#define PARTNER_PRIORITY 25

#endif
