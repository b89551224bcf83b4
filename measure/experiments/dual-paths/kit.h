/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What measurements of dual mode share. All of it fails by a line that makes the run invalid. */
#ifndef KIT_H
#define KIT_H

#include <pillion_dual.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

#define URGENT 50
/* Readings before the first that counts. */
#define WARM_UP 10
/* Nanoseconds of rest between readings, so that no budget is used up. */
#define REST 50000

struct readings {
	unsigned long long sum, least, most, count;
};

/* How many readings each figure has. */
extern unsigned int rounds;

/* The time-stamp counter: counted, the instructions that were executed. */
static inline unsigned long long ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* System calls without libc's tests for cancellation. */
static inline long call(long number, long first, long second, long third, long fourth)
{
	register long r10 asm("r10") = fourth;
	long result;

	asm volatile("syscall"
		     : "=a" (result)
		     : "a" (number), "D" (first), "S" (second), "d" (third), "r" (r10)
		     : "rcx", "r11", "memory");
	return result;
}

/*
 * A sleep until a time that has passed. Like the next one, it is where it is used: primary mode
 * may look up a page of code anew if the last call was made on another one, which takes 130.
 */
static inline long sleep_not(void)
{
	static const struct timespec past = { 0, 1 };

	return call(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&past, 0);
}

/* A sleep in which Linux runs, and after which a budget is not used up. */
static inline void rest(void)
{
	static const struct timespec time = { 0, REST };

	call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&time, 0);
}

void begin_kit(void);
void die(const char *what);
void add(struct readings *readings, unsigned long long value);
void print(const char *name, const struct readings *readings);

void become_urgent(int priority);
/* Marks this process; a file of the device. */
int mark(void);
/* What dual mode says of a thread; ends this process if that was never in primary mode. */
struct pillion_dual_thread look(int device, pid_t thread);
/* Whether the calling thread was in primary mode as often as expected. */
void check_entries(int device, unsigned long long least, unsigned long long most);

/*
 * Runs a measurement in a process of its own, of that FIFO priority or, with 0, an ordinary one.
 * Returns the least reading of the figure that it printed last.
 */
unsigned long long in_process(void (*measure)(const char *), const char *name, int priority);
/* Begins a thread of that FIFO priority. */
pthread_t begin_thread(int priority, void *(*body)(void *), void *context);
/* Begins hackbench, over and over; a group of processes to kill. */
pid_t load(void);

void measure_mutexes(void);
void measure_pins(void);

#endif
