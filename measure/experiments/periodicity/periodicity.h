/*
 * State that the three tasks share: the times at which the two triggered tasks were activated, in
 * the order of the triggers.
 */
#ifndef PERIODICITY_H
#define PERIODICITY_H

#define PERIOD 100000

#define BUFFER "activations"
#define ACTIVATIONS 120000

/* Semaphores that trigger the first and the second task. */
#define FIRST "/first"
#define SECOND "/second"

/* Priorities: a triggered task runs at once, as in the paper, before the timer's thread goes on. */
#define TIMER_PRIORITY 100
#define TASK_PRIORITY 110

struct activations {
	/*
	 * Nanoseconds; 0 until the activation. Even places belong to the first task, odd ones to
	 * the second.
	 */
	volatile long long at[ACTIVATIONS];
	/*
	 * Whether the timer's thread is triggering right now; and how many activations came only
	 * after it had continued.
	 */
	volatile int is_pulled, late;
};

#endif
