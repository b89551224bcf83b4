/* What the real-time task and the process in Linux that raises interrupts share, as an mbuff of this name. */
#ifndef DISPATCH_H
#define DISPATCH_H

#define DISPATCH_AREA "dispatch"

struct dispatch {
	/* Time-stamp counter just before the interrupt was raised. Written by Linux. */
	volatile unsigned long long raised;
	/* The next interrupt is the last one. Written by Linux. */
	volatile unsigned int is_last;
	/* Interrupts that the waiting thread has seen; whether it has told all. Written by the task. */
	volatile unsigned int seen, has_told;
};

#endif
