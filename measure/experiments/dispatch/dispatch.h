/*
 * What the real-time task and the process in Linux that raises interrupts share: the layout of an
 * mbuff of this name, and the spread of pauses.
 */
#ifndef DISPATCH_H
#define DISPATCH_H

#define DISPATCH_AREA "dispatch"

struct dispatch {
	/* Time-stamp counter just before the interrupt was raised. Written by Linux. */
	volatile unsigned long long raised;
	/*
	 * Whether the next interrupt is the last one; how often the line was lowered; whether
	 * time is over. Written by Linux.
	 */
	volatile unsigned int is_last, lowered, is_over;
	/*
	 * Interrupts that the waiting thread has seen; whether it has reported. Written by the
	 * task.
	 */
	volatile unsigned int seen, has_told;
};

/* A number below `limit`: multiples of the golden ratio fill the range without a period. */
static inline unsigned int spread(unsigned long long number, unsigned int limit)
{
	return ((number * 0x9e3779b97f4a7c15ull >> 32) * limit) >> 32;
}

#endif
