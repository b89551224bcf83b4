// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memories whose threads may wait for private futexes in primary mode. Their threads that wait
 * in Linux are counted, so that the task knows whether anybody does; if so, it leaves the address,
 * and an agent wakes all who wait there.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/err.h>
/* What <linux/futex.h> needs of others. */
#include <linux/mutex.h>
#include <linux/futex.h>
#include <linux/hash.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/spinlock.h>
#include <uapi/linux/sched/types.h>
#include <asm/ptrace.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

#include "dual_futex.h"

/* Bits of a memory's hash. */
#define BITS 12

struct memory {
	spinlock_t lock;
	/* NULL: there is none. */
	struct mm_struct *mm;
	/* Threads in calls that are counted, which may outlast it. */
	unsigned int inside;
	u32 counts[DUAL_FUTEX_COUNTS];
	/* The task that knows the counts, by how often it was started. */
	u32 start;
};

/* The last one is that of files, of which there are only counts. */
static struct memory memories[DUAL_FUTEX_SETS];

/* Bits for the memories that there are. Guarded by `lock`. */
static DECLARE_BITMAP(may_be, 1 << BITS);
static DEFINE_SPINLOCK(lock);

/* NULL before it is there. */
static struct task_struct *agent;

bool notrace dual_futex_may_be(const struct mm_struct *mm)
{
	return test_bit(hash_ptr(mm, BITS), may_be);
}

static u32 *stated(unsigned int number, unsigned int count)
{
	struct pillion_dual_futexes *shared = dual_futexes(number);

	if (count < DUAL_FUTEX_WAITS)
		return &shared->anywhere;
	return count < DUAL_FUTEX_OWNED ? &shared->waits[count - DUAL_FUTEX_WAITS] :
					    &shared->owned[count - DUAL_FUTEX_OWNED];
}

void dual_futex_state(unsigned int number)
{
	struct memory *memory = &memories[number];
	unsigned int i;

	if (READ_ONCE(memory->start) == dual_starts())
		return;
	spin_lock(&memory->lock);
	for (i = 0; i < DUAL_FUTEX_COUNTS; i++)
		WRITE_ONCE(*stated(number, i), memory->counts[i]);
	WRITE_ONCE(memory->start, dual_starts());
	spin_unlock(&memory->lock);
}

/* Counts a thread that enters a call, or leaves it. */
void dual_futex_count(unsigned int number, unsigned int which, int change)
{
	struct memory *memory = &memories[number];

	spin_lock(&memory->lock);
	memory->inside += change;
	memory->counts[which] += change;
	WRITE_ONCE(*stated(number, which), memory->counts[which]);
	spin_unlock(&memory->lock);
	/* Before the call looks at a futex. */
	smp_mb();
}

/* The current thread's memory, or -1. */
int dual_futex_memory(void)
{
	int i;

	for (i = 0; i < PILLION_DUAL_MEMORIES; i++)
		if (READ_ONCE(memories[i].mm) == current->mm)
			return i;
	return -1;
}

/*
 * Threads of the current memory that wait already are not counted: each makes its call again, as
 * after a signal without a handler.
 */
static void begin_again(void)
{
	struct task_struct *process, *thread;
	bool may_wait;

	rcu_read_lock();
	for_each_process_thread(process, thread) {
		if (thread == current)
			continue;
		/* Until it gives up its memory, it has a stack. */
		task_lock(thread);
		may_wait = thread->mm == current->mm &&
			   dual_futex_may_wait(syscall_get_nr(thread, task_pt_regs(thread)));
		task_unlock(thread);
		if (!may_wait)
			continue;
		set_tsk_thread_flag(thread, TIF_NOTIFY_SIGNAL);
		if (!wake_up_process(thread))
			kick_process(thread);
	}
	rcu_read_unlock();
}

/*
 * Makes a memory known by a number. False if it has one, by another process that uses it: futexes
 * are found by one number.
 */
bool dual_futex_begin(unsigned int number, struct mm_struct *mm)
{
	bool is_new;
	unsigned int i;

	spin_lock(&lock);
	for (i = 0; i < PILLION_DUAL_MEMORIES; i++)
		if (memories[i].mm == mm)
			break;
	is_new = i == PILLION_DUAL_MEMORIES;
	if (is_new) {
		WRITE_ONCE(memories[number].mm, mm);
		set_bit(hash_ptr(mm, BITS), may_be);
	}
	spin_unlock(&lock);
	if (!is_new)
		return false;
	/* A call from here on is seen, or found to be under way. */
	smp_mb();
	begin_again();
	return true;
}

/* Whether that memory can be another's. */
bool dual_futex_is_free(unsigned int number)
{
	return !READ_ONCE(memories[number].mm) && !READ_ONCE(memories[number].inside);
}

void dual_futex_end(unsigned int number)
{
	unsigned int i, hash;

	spin_lock(&lock);
	hash = hash_ptr(memories[number].mm, BITS);
	WRITE_ONCE(memories[number].mm, NULL);
	for (i = 0; i < PILLION_DUAL_MEMORIES; i++)
		if (memories[i].mm && hash_ptr(memories[i].mm, BITS) == hash)
			break;
	if (i == PILLION_DUAL_MEMORIES)
		clear_bit(hash, may_be);
	spin_unlock(&lock);
}

/* Wakes all threads in Linux that wait at an address. The caller uses their memory. */
static void wake_all(u64 address)
{
	struct pt_regs regs = {
		.orig_ax = __NR_futex, .di = address, .si = FUTEX_WAKE_PRIVATE, .dx = INT_MAX,
	};

	dual_natively(&regs);
}

/* Does what was posted for a memory. */
static void deliver(unsigned int number)
{
	struct memory *memory = &memories[number];
	struct mm_struct *mm;
	unsigned int i;
	u64 address;

	spin_lock(&lock);
	mm = memory->mm && mmget_not_zero(memory->mm) ? memory->mm : NULL;
	spin_unlock(&lock);
	if (mm)
		kthread_use_mm(mm);
	for (i = 0; i < PILLION_DUAL_FUTEX_POSTS; i++) {
		address = xchg(&dual_futexes(number)->posts[i], 0);
		if (mm && address)
			wake_all(address);
	}
	if (!mm)
		return;
	kthread_unuse_mm(mm);
	mmput(mm);
}

static int deliver_all(void *nothing)
{
	for (;;) {
		u64 posted;

		set_current_state(TASK_IDLE);
		posted = READ_ONCE(dual_head()->posted) ? xchg(&dual_head()->posted, 0) : 0;
		if (!posted && !kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		if (!posted && kthread_should_stop())
			return 0;
		for (; posted; posted &= posted - 1)
			if (__ffs64(posted) == PILLION_DUAL_FILE_SET) {
				dual_file_deliver();
				dual_queue_deliver();
			} else if (__ffs64(posted) < PILLION_DUAL_MEMORIES) {
				deliver(__ffs64(posted));
			}
	}
}

void dual_agent_ring(void)
{
	if (agent)
		wake_up_process(agent);
}

int dual_agent_open(void)
{
	/* As urgent as the most urgent thread that it wakes. */
	const struct sched_attr most_urgent = { .sched_policy = SCHED_FIFO, .sched_priority = MAX_RT_PRIO - 1 };
	struct task_struct *thread;
	unsigned int i;

	for (i = 0; i < DUAL_FUTEX_SETS; i++)
		spin_lock_init(&memories[i].lock);
	thread = kthread_run(deliver_all, NULL, "pillion-futex");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	sched_setattr_nocheck(thread, &most_urgent);
	agent = thread;
	return 0;
}

void dual_agent_close(void)
{
	kthread_stop(xchg(&agent, NULL));
}
