/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads of processes in primary mode. The parts: dual.c the device and the marks of processes,
 * dual_hook.c the system calls in which a thread enters primary mode, dual_thread.c how it
 * enters and leaves it, dual_continue.c what becomes of its call then, dual_account.c what it
 * did and why it came back, dual_report.c where it left it, dual_pin.c memory that stays where
 * it is, dual_clock.c Linux's clocks, dual_urgency.c threads while Linux runs them, dual_name.c
 * names of objects, dual_message.c messages of threads in Linux, dual_futex.c and
 * dual_futex_memory.c private futexes, dual_file.c, dual_event.c and dual_timer.c files that
 * both sides use, dual_signal.c the signals of timers, dual_processor.c where all of this is in a
 * Linux with several processors.
 */
#ifndef DUAL_H
#define DUAL_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/types.h>
#include <asm/ptrace.h>
#include <asm/unistd.h>
#include <pillion_channel.h>
#include <pillion_dual.h>

#include "window.h"

struct cred;
struct dual_pages;
struct page;
struct pid;

/* What a memory looks like: it is looked at again when that has changed. */
struct dual_shape {
	unsigned long total_vm;
	/* Changes with rights as well. */
	unsigned long data_vm;
	int map_count;
	/* How often something was unmapped: what replaces it may be as large. */
	int unmaps;
};

/* Memory of a process that stays where it is. */
struct dual_pins {
	struct mmu_notifier notifier;
	/* The same, of what is taken away; only where Linux has several processors. */
	struct mmu_notifier taken;
	/* Threads that are in primary mode, or about to be, by processor; counted there only. */
	atomic_t inside[PILLION_DUAL_PROCESSORS];
	/* Held by the thread that looks at the memory. */
	struct mutex lock;
	/* The memory to which the notifier is registered; NULL before the first scan. */
	struct mm_struct *mm;
	/* At the last scan. */
	struct dual_shape shape;
	/* See `dual_shape`. */
	atomic_t unmaps;
	struct dual_pages *pinned;
	/* Its index among the memories that may have objects, or DUAL_NO_MEMORY. */
	u32 memory;
	/* The start of the task that was told of it. */
	u32 stated;
	/* Whether it may have objects that others use. */
	bool has_names;
	/* The highest ceiling that it may give a mutex. */
	u8 ceiling;
};

#define DUAL_NO_MEMORY U32_MAX

/* Kinds of ways to Linux of which the first is noted, of each process. */
#define DUAL_PLACES 16

/* A process that was marked, until it has ended and no file wants to know about it. */
struct dual_process {
	/* Among those that live, and among those of them with the same bit. */
	struct list_head link;
	struct hlist_node same;
	/* One while it lives, one for each file, and one for each thread that is being served. */
	refcount_t references;
	struct pid *pid;
	/* Who marked it: a program that gains rights by its file is not what they marked. */
	const struct cred *marker;
	/* The memory in which that was; only compared. */
	struct mm_struct *marked_in;
	u32 flags;
	bool lives;
	/* Whether its threads may enter primary mode: it was not unmarked since. */
	bool marked;
	/* Whether it was told that its memory cannot be pinned. */
	bool is_warned;
	/* What kept its threads from primary mode: PILLION_DUAL_OBSTACLE_... */
	unsigned long obstacles;
	struct dual_pins pins;
	/* Where its threads left primary mode. Guarded by `report`. */
	struct mutex report;
	unsigned int place_count;
	struct pillion_dual_place *places[DUAL_PLACES];
	/* Its threads, which were in primary mode at least once. Guarded by dual.c's lock. */
	struct list_head threads;
	unsigned int thread_count;
};

/* A thread that was in primary mode, or wants to be told of leaving it. */
struct dual_thread {
	struct list_head link;
	struct pid *pid;
	/* Its number and that of its process, as it sees them itself. */
	u32 number;
	u32 process;
	/* The slot that it has while it is in primary mode, or -1. */
	int slot;
	/* Where it made a call that primary mode left to Linux; 0: nowhere. */
	unsigned long native;
	/* It wants to be told of switches. Only the thread itself sets it, and is told. */
	bool warns;
	/* What it did before the present stay in primary mode. */
	struct pillion_dual_thread sums;
	/* Has the thread go on with all bits of `rax` after an ioctl, whose result has 32. */
	struct callback_head going_on;
	long rax;
};

/* The task that runs threads in primary mode. */
extern struct task *dual_task;

/* What it shares with this module. */
static inline struct pillion_dual *dual_head(void)
{
	return window.base + window.dual;
}

static inline struct pillion_dual_slot *dual_slot(unsigned int number)
{
	return (struct pillion_dual_slot *)(dual_head() + 1) + number;
}

/* How often the task was started: one that was started anew knows nothing of earlier offers. */
static inline u32 dual_starts(void)
{
	return READ_ONCE(window.directory->tasks[dual_task->index].starts);
}

static inline unsigned int dual_slot_count(void)
{
	u64 rest = window.dual_size - sizeof(struct pillion_dual);

	return min_t(u64, rest / sizeof(struct pillion_dual_slot), PILLION_DUAL_SLOTS);
}

int dual_open(void);
void dual_close(void);
/* Looks for threads that were given back. In any context. */
void dual_ring(void);

/* Bits for the numbers of marked processes: of several with the same bit, all are looked up. */
#define DUAL_MARKS 4096
extern unsigned long dual_marks[];

/* Whether the process of a task is marked, or another with the same bit. In any context. */
static inline bool dual_may_be_marked(const struct task_struct *task)
{
	return test_bit(task->tgid % DUAL_MARKS, dual_marks);
}

/* The numbers of general registers in a slot. */
enum { RDX = 2, RSP = 4, RBP = 5, RSI = 6, RDI = 7, R10 = 10 };

/* Whether Linux has, or can have, several processors. */
static inline bool dual_has_several(void)
{
	return nr_cpu_ids > 1;
}

/* What is told about each of Linux's processors with threads in primary mode; NULL: it has none. */
DECLARE_PER_CPU(struct pillion_dual_processor *, dual_told);

/* The number of a slot's processor, which is not Linux's. */
static inline unsigned int dual_processor_of(unsigned int slot)
{
	return window.directory->dual_slots[slot] % PILLION_DUAL_PROCESSORS;
}

/* Linux's number of it; -1: Linux does not run there. */
int dual_cpu_of(unsigned int slot);
const struct cpumask *dual_processors(void);
const char *dual_cannot_be(void);
int dual_processors_open(void);
void dual_processors_close(void);
bool dual_stay_there(void);

/*
 * Has the current thread stay on one of dual mode's processors, if its affinity lets it be there.
 * What it makes from then on inherits that, as any affinity.
 */
static inline bool dual_stay(void)
{
	return !dual_has_several() || dual_stay_there();
}

void dual_settle(const atomic_t *inside);

struct dual_process *dual_process_of_current(void);
struct dual_process *dual_process_and_thread(struct dual_thread **thread);
void dual_process_put(struct dual_process *process);
struct dual_thread *dual_thread_of_current(struct dual_process *process);

int dual_hook_open(void);
void dual_hook_close(void);
long dual_natively(const struct pt_regs *regs);
/*
 * The number of a call that is hooked. Linux looks at the low half, and takes most calls by x32's
 * numbers too, if that is switched on.
 */
static inline u32 dual_number(const struct pt_regs *regs)
{
	return (u32)regs->orig_ax & ~__X32_SYSCALL_BIT;
}
void *dual_function(const char *name);
/* A function's own instructions may begin behind one for indirect calls, of so many bytes. */
#define DUAL_ENDBR_BYTES 4

bool dual_has_clocks(void);
bool dual_thread_run(struct dual_process *process, struct dual_thread *thread, struct pt_regs *regs,
		     long *result);
long dual_thread_call(struct dual_process *process, unsigned int number, unsigned long argument);
int dual_thread_open(void);
bool dual_thread_has_vector(void);
/* Whether there is a free slot on one of Linux's processors. */
bool dual_thread_has_room(int cpu);
void dual_thread_close(void);
/* Between these two, the task is started anew. May sleep. */
void dual_stop_offering(void);
void dual_go_on_offering(void);
/* Whether the current thread has a policy with which it may enter primary mode. */
static inline bool dual_is_real_time(void)
{
	return current->policy == SCHED_FIFO || current->policy == SCHED_RR;
}

/* Notes what keeps threads of a process from primary mode. Returns whether that is new. */
bool dual_hinder(struct dual_process *process, unsigned int obstacle);
/* The same of its memory, with the error of dual_pin(). */
void dual_warn_of_memory(struct dual_process *process, const struct dual_thread *thread, int error);
void dual_thread_recall(struct dual_thread *thread);
void dual_slot_recall(unsigned int slot);
/* Asks for the threads in primary mode on processors that their affinity excludes by now. */
void dual_threads_move(void);
/*
 * Runners look at their clocks, and for memories that have gone: all that have a thread, or those
 * whose threads do not wait. In any context.
 */
void dual_runners_look(bool all);

void dual_account_live(struct pillion_dual_thread *sums, unsigned int number);
void dual_report(struct dual_process *process, const struct dual_thread *thread,
		 const struct pillion_dual_slot *slot, u32 reason);

void dual_urgency_open(bool has_vector);
void dual_urgency_close(void);
void dual_urgency_end(void);
void dual_urgency_panic(void);
void dual_urgency_run(void);
void dual_urgency_told(void);
void dual_urgency_wait(void);
u64 dual_urgency_leave(void);

int dual_pin(struct dual_pins *pins);
int dual_pins_follow(struct dual_pins *pins);
void dual_state_memory_anew(struct dual_pins *pins, u32 start);

/* Tells the task of a memory that may have objects, once each time that the task is started. */
static inline void dual_state_memory(struct dual_pins *pins)
{
	u32 start = dual_starts();

	if (smp_load_acquire(&pins->stated) != start)
		dual_state_memory_anew(pins, start);
}

void dual_pins_init(struct dual_pins *pins);

/* From here on until `dual_pins_leave`, the thread in that slot can use the memory. */
static inline void dual_pins_enter(struct dual_pins *pins, unsigned int slot)
{
	if (!dual_has_several())
		return;
	atomic_inc(&pins->inside[dual_processor_of(slot)]);
	/* Whoever takes something away from now on knows. */
	smp_mb__after_atomic();
}

static inline void dual_pins_leave(struct dual_pins *pins, unsigned int slot)
{
	if (dual_has_several())
		atomic_dec(&pins->inside[dual_processor_of(slot)]);
}

void dual_pins_end(struct dual_pins *pins);

/* Whether futex calls are looked at in a memory, or another with the same bit. In any context. */
bool dual_futex_may_be(const struct mm_struct *mm);
bool dual_futex_begin(unsigned int memory, struct mm_struct *mm);
bool dual_futex_is_free(unsigned int memory);
void dual_futex_end(unsigned int memory);
void dual_futex_state(unsigned int memory);
/* Linux's part of a call of the current thread, whatever its memory. */
long dual_futex(const struct pt_regs *regs);
bool dual_futex_waits(u64 number, u64 operation);
bool dual_futex_enters(const struct pt_regs *regs);
/* Threads in Linux are to be woken. In any context. */
void dual_agent_ring(void);
int dual_futex_open(void);
void dual_futex_close(void);

/* Files that both sides read and write. */
bool dual_file_any(void);
void dual_file_state(void);
bool dual_file_is_left(void);
bool dual_file_call(u64 number);
bool dual_file_waits(u64 number, unsigned int descriptor);
void dual_file_deliver(void);
int dual_files_open(void);
void dual_files_close(void);
/* System calls: Linux's, with what is shared. */
long dual_event_make(const struct pt_regs *regs);
long dual_timer_make(const struct pt_regs *regs);
long dual_timer_set(const struct pt_regs *regs);
long dual_timer_get(const struct pt_regs *regs);

/* Message queues that both sides use. */
bool dual_queue_any(void);
void dual_queue_state(struct pillion_dual_descriptors *told);
void dual_queue_free_left(void);
bool dual_queue_call(u64 number);
bool dual_queue_is(u64 number, unsigned int descriptor);
bool dual_queue_waits(u64 number, unsigned int descriptor);
void dual_queue_deliver(void);
int dual_queues_open(void);
void dual_queues_close(void);
long dual_queue_make(const struct pt_regs *regs);

/* Timers that send signals, and threads that wait for these. */
long dual_signal_make(const struct pt_regs *regs);
long dual_signal_set(const struct pt_regs *regs);
long dual_signal_use(const struct pt_regs *regs);
bool dual_signal_enters(const struct pt_regs *regs);
void dual_signal_begin(unsigned int number, const struct pt_regs *regs);
void dual_signal_end(unsigned int number);
void dual_signal_open(void);
void dual_signal_close(void);

int dual_clock_open(void);
/* Whether threads in primary mode have a copy of the vDSO's page. */
bool dual_clock_has_page(void);
/*
 * Has Linux map the vDSO of the current process and its clocks, which stay where they are: the
 * first reading of a clock is no page fault then.
 */
void dual_clock_touch(void);
void dual_clock_close(void);
/* Nanoseconds of one of the clocks by which timers run. */
s64 dual_clock_now(clockid_t clock);

/* Longest message that the task takes. */
#define DUAL_MESSAGE_BYTES (64 << 10)

struct dual_message {
	int count;
	struct page *pages[DUAL_MESSAGE_BYTES / PAGE_SIZE + 1];
};

int dual_message_pin(struct dual_message *message, unsigned int number, const struct pt_regs *regs);
void dual_message_unpin(struct dual_message *message);
int dual_naming(struct pillion_dual_naming *naming, const void __user *user);

#endif
