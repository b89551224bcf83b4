/* What the task that measures shares with its partner, who keeps the broker busy. */
#ifndef KLT_H
#define KLT_H

/* Of this name, as an mbuff. */
#define SHARED "klt"

struct shared {
	/* When low asked for the section; never, before it has. */
	volatile unsigned long long began;
	volatile int is_over;
};

#define NEVER_BEGAN (~0ULL)

/* The partner is to begin; where its messages go. */
#define PARTNER_BEGIN "/klt-begin"
#define LOW_QUEUE "/klt-low"

#define MESSAGE 4096
/* Less urgent than who says so: it begins when that one sleeps. */
#define PARTNER_PRIORITY 25

#endif
