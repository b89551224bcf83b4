/*
 * What the three tasks share: the times at which the two triggered ones were activated, in the
 * order of the triggers.
 */
#ifndef PERIODICITY_H
#define PERIODICITY_H

#define PERIOD 100000

#define BUFFER "activations"
#define ACTIVATIONS 120000

/* Semaphores by which the first and the second task are triggered. */
#define FIRST "/first"
#define SECOND "/second"

/*
 * Priorities: who is triggered runs at once, as in the paper, and before the timer's thread goes
 * on.
 */
#define TIMER_PRIORITY 100
#define TASK_PRIORITY 110

struct activations {
	/* Nanoseconds; 0 until the activation. Even places are the first task's, odd ones the second's. */
	volatile long long at[ACTIVATIONS];
	/* The timer's thread is about an activation; and how many came after it had gone on. */
	volatile int is_pulled, late;
};

#endif
