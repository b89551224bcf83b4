/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of dual mode. Each runs in a process of its own; the first failure ends it. */
#ifndef TEST_H
#define TEST_H

#include <pillion_dual.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

/* Of a thread that may be in primary mode. */
#define PRIORITY 50

#define MICROSECOND 1000ll
#define MILLISECOND 1000000ll
#define SECOND 1000000000ll

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define check(condition, ...) \
	do { \
		if (!(condition)) \
			fail(__FILE__, __LINE__, __VA_ARGS__); \
	} while (0)

/* No process is marked: the tests try what they expect on Linux alone. */
extern bool is_native;
/* The open device. */
extern int device;

/* Ends this test. */
void fail(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));
/* Says something about a test that is good. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A system call in this program's own code; returns what the kernel returns. */
static inline long call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 asm("r10") = d;
	register long r8 asm("r8") = e;
	register long r9 asm("r9") = f;
	long result;

	asm volatile("syscall" : "=a" (result) : "0" (number), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8), "r" (r9)
		     : "rcx", "r11", "memory");
	return result;
}

#define CALL0(number) call(number, 0, 0, 0, 0, 0, 0)
#define CALL2(number, a, b) call(number, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL4(number, a, b, c, d) call(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

/* Sends the calling thread to Linux, if it is in primary mode. */
static inline void to_linux(void)
{
	CALL0(SYS_getppid);
}

static inline int64_t ns_of(struct timespec time)
{
	return time.tv_sec * SECOND + time.tv_nsec;
}

static inline struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };
}

/* The time, by a system call. */
int64_t now(clockid_t clock);
/* Sleeps by system calls; the result is the kernel's. */
long sleep_until(clockid_t clock, int64_t ns);
long sleep_for(clockid_t clock, int64_t ns, struct timespec *rest);
/* Sleeps in primary mode for a moment, so that the thread is there afterwards. */
void to_primary(void);

/* Marks this process. */
void mark(unsigned int flags);
/* Has Linux filter the calling thread's system calls, and let all of them pass. */
void filter_calls(void);
/* Gives the calling thread a real-time priority, and locks the memory of its process. */
void be_real_time(void);
/* Both. */
void enter(void);
/* Has the calling process go on after what `rax_of_fault` does. */
void catch_faults(void);
/* Faults with that value in rax, which leads to Linux. Returns what is in rax afterwards. */
uint64_t rax_of_fault(uint64_t rax);
/* Takes the priority away. */
void be_ordinary(void);
/* Whether the calling thread is in primary mode. */
bool is_primary(void);
/* Binds the calling thread to a processor; to the last one, if there are several. */
void go_to_processor(int processor);
void go_to_last_processor(void);
/* Starts a thread with a priority; 0 is that of ordinary threads. */
pthread_t begin_thread(int priority, void *(*run)(void *), void *context);

/* What the module knows of a thread; false if it was never in primary mode. */
bool look(pid_t thread, struct pillion_dual_thread *found);
/* How often the calling thread went to Linux by either of two calls. */
uint64_t left_by(long one, long other);
/* The calling thread has been in primary mode at least that often. */
void check_entries(uint64_t least);

/* A call of primary mode's own, also from Linux; returns what it returns. */
long service(unsigned int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/* Runs a function in another process; returns its number. */
pid_t spawn(void (*run)(void *), void *context);
/* The status of a process that ends soon. */
int status_of(pid_t child);
/* Memory that processes made from now on share. */
void *shared(size_t bytes);

/* What a process sees of its own sleep. */
struct sleeper {
	unsigned int kind;
	volatile int64_t begins;
	volatile int64_t ends;
	volatile long result;
	volatile uint64_t counter;
};

/* Starts a process that sleeps 100 ms, or computes as long; returns when it does. */
pid_t start(struct sleeper *sleeper, unsigned int kind);

void registers(void);
void registers_at_faults(void);
void registers_at_signals(void);
void registers_traced(void);
void times(void);
void clocks(void);
void clocks_between_threads(void);
void vdso(void);
void interrupted_absolute(void);
void interrupted_relative(void);
void interrupted_computation(void);
void stopped(void);
void restarts_of_32_bits(void);
void killed(void);
void killed_without_budget(void);
void kill_storm(void);
void exit_of_another(void);
void room(void);
void forks(void);
void threads(void);
void executes(void);
/* What `executes` executes. */
int executed(void);
/* A program by `pillion exec`, and what that executes. */
void prepares(void);
int prepared(void);
/* And what `report` executes. */
void report(void);
void obstacles(void);
int reported(void);
int hindered(void);
void traced(void);
void exceptions(void);
void faults(void);
void faults_of_later(void);
void modes(void);
void counts_live(void);
int stay(void);
int outlive(void);
int outlive_fifos(void);
int outlive_queues(void);
int minute(void);
int while_odd(void);
/* Of a program that `pillion exec` prepared. */
void check_time(void);
void recalled(void);
void unmarked(void);
void warns(void);
void debugs(void);
void debugs_of_memory(void);
void debugs_begin(void);
void debugs_of_owners(void);
void watchdog(void);
void freezer(void);
void permissions(void);
void ended_many(void);
void set_user_id(void);
/* What `set_user_id` executes. */
int other(bool has_gained);
void semaphores(void);
void mutexes(void);
void mutex_inherits(void);
void conditions(void);
void event_flags(void);
void periods(void);
void objects_end(void);
void memories(void);
void services_interrupted(void);
void services_registers(void);
void futex_results(void);
void futex_order(void);
void futex_turns(void);
void futex_early(void);
void futex_interrupted(void);
void futex_of_linux(void);
void futex_memory(void);
void futex_storm(void);
void futex_killed(void);
void event_results(void);
void event_of_x32(void);
void event_registers(void);
void event_turns(void);
void event_polled(void);
void event_edges(void);
void timer_periods(void);
void timer_settings(void);
void timer_sets(void);
void timer_counts(void);
void timer_offsets(void);
void files_closed(void);
void files_shared(void);
void files_interrupted(void);
void files_left(void);
void files_many(void);
void queue_results(void);
void queue_longest(void);
void queue_errors(void);
void queue_attributes(void);
void queue_turns(void);
void queue_order(void);
void queue_interrupted(void);
void queue_processes(void);
void queue_ends(void);
void queue_polled(void);
void queue_notified(void);
void queue_told_by_others(void);
void queue_told_beside_readers(void);
void queue_shown(void);
void queue_many(void);
void queue_storm(void);
void queue_cost(void);
void expiries(void);
void expiries_set(void);
void expiries_disturbed(void);
void expiries_unsaid(void);
void processors_stay(void);
void processors_each(void);
void processors_moved(void);
void processors_on_line(void);
void processors_lock(void);
void processors_signals(void);
void processors_kills(void);
void processors_protect(void);
void processors_replace(void);
void processors_fork(void);
void processors_at_once(void);
void processors_turns(void);
void processors_anew(void);
void memory_that_moves(void);
void memory_stays(void);
void shared_memory_stays(void);
void clock_is_set(void);
void shield(void);
void shield_elsewhere(void);
int urgent_mode(void);
void filtered(void);
void dumps(void);
void posix_mutexes(void);
void posix_conditions(void);
void posix_others(void);
void posix_inherits(void);
void names(void);
void names_end(void);
void names_owner_dies(void);
void names_waiter_dies(void);
void names_rights(void);
void names_ceiling(void);
void words(void);
void pipe_held(void);
void hostile_words(void);
void names_full(void);
void hostile_names(void);
/* Beside the task of `./x test dual-names`. */
void tasks(void);
void tasks_made(void);
void tasks_queues(void);
void tasks_end(void);
void tasks_full(void);
/* Beside the task of `./x test dual-fifos`. */
void fifo_results(void);
void fifo_echo(void);
void fifo_records(void);
void fifo_readers(void);
void fifo_writers(void);
void fifo_turns(void);
void fifo_interrupted(void);
void fifo_stolen(void);
void fifo_cost(void);
void hostile_services(void);
void hostile_instructions(void);
void hostile_arguments(void);
void hostile_calls(void);
void hostile_waits(void);

#endif
