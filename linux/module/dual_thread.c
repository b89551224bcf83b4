// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a thread enters primary mode, and how it comes back. It enters in a system call: its
 * registers go into a slot, and it sleeps in Linux until the task gives them back. Whatever Linux
 * wants of it meanwhile (a signal, a debugger, the freezer, its end) wakes it up: it then asks for
 * its registers, and Linux goes on with it as with any thread.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/fdtable.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/nsproxy.h>
#include <linux/panic_notifier.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/rt.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/task_work.h>
#include <linux/time_namespace.h>
#include <linux/uaccess.h>
#include <asm/io.h>
#include <asm/irq.h>
#include <asm/msr.h>
#include <asm/prctl.h>
#include <asm/segment.h>
#include <asm/special_insns.h>
#include <asm/unistd.h>
#include <asm/vdso/clocksource.h>
#include <asm/irq_vectors.h>

#include "dual.h"
#include "dual_registers.h"
#include "dual_thread.h"
#include "hypercall.h"
#include "page_tables.h"
#include "window.h"

/* Work at system calls that primary mode does not do. */
#define CALL_WORK                                                                       \
	(SYSCALL_WORK_SECCOMP | SYSCALL_WORK_SYSCALL_TRACE | SYSCALL_WORK_SYSCALL_EMU | \
	 SYSCALL_WORK_SYSCALL_USER_DISPATCH)

/* How long threads may take to come back, or to learn that they are lost, in milliseconds. */
#define PATIENCE 100

static_assert(PILLION_DUAL_LIFE_CALL == PILLION_DUAL_CALL_LIFE);

#if IS_ENABLED(CONFIG_HAVE_KVM) || IS_ENABLED(CONFIG_KVM)
#define VECTOR POSTED_INTR_WAKEUP_VECTOR
#else
#define VECTOR 0
#endif

/* Linux restarts or stops: no thread enters primary mode any more. */
static bool ends;

/* The task is being started anew: no thread is offered meanwhile, to whichever it is. */
static bool begins;
static DEFINE_MUTEX(beginning);

/* The threads in the slots. A slot without one is free. */
static struct task_struct *owners[PILLION_DUAL_SLOTS];

/* Held while a thread in a slot is woken, so that it does not give up its slot and end. */
static DEFINE_RAW_SPINLOCK(lock);

/* Whether a slot is on one of Linux's processors; on any, if that is -1. */
static bool is_on(unsigned int slot, int cpu)
{
	int at = dual_cpu_of(slot);

	return at >= 0 && (cpu < 0 || at == cpu);
}

static int claim(int cpu)
{
	unsigned int i, count = dual_slot_count();
	bool several = dual_has_several();

	for (i = 0; i < count; i++)
		if (!READ_ONCE(owners[i]) && (!several || is_on(i, cpu)) && !cmpxchg(&owners[i], NULL, current))
			return i;
	return -EAGAIN;
}

bool dual_thread_has_room(int cpu)
{
	unsigned int i;

	for (i = 0; i < dual_slot_count(); i++)
		if (!READ_ONCE(owners[i]) && is_on(i, cpu))
			return true;
	return false;
}

static void release(unsigned int slot)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	owners[slot] = NULL;
	raw_spin_unlock_irqrestore(&lock, flags);
}

/* Wakes the threads of slots. In any context. */
static void wake(u64 slots)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	for (; slots; slots &= slots - 1) {
		unsigned int slot = __ffs64(slots);

		if (slot < PILLION_DUAL_SLOTS && owners[slot])
			wake_up_process(owners[slot]);
	}
	raw_spin_unlock_irqrestore(&lock, flags);
}

/*
 * The threads that a processor's runners gave back since, as bits. What else there is to look at,
 * is.
 */
static u64 take_events(struct pillion_dual_processor *told)
{
	u64 *events = &told->events;
	u64 taken = READ_ONCE(*events) ? xchg(events, 0) : 0;

	if (taken & PILLION_DUAL_FUTEX_EVENT)
		dual_agent_ring();
	return taken & ~PILLION_DUAL_FUTEX_EVENT;
}

/* Wakes the threads that were given back on this processor; all of them if the task has gone. */
static void ring_here(void)
{
	struct pillion_dual_processor *told = this_cpu_read(dual_told);

	dual_urgency_told();
	if (told)
		wake(take_events(told));
	if (!task_alive(dual_task))
		wake(U64_MAX);
}

/* The same, wherever they were given back. */
void dual_ring(void)
{
	int cpu;

	if (!dual_task)
		return;
	if (dual_has_several())
		for_each_cpu(cpu, dual_processors())
			wake(take_events(per_cpu(dual_told, cpu)));
	ring_here();
}

/*
 * A clock was set, or a memory with objects has gone: runners look what that means for them.
 * Linux's timekeeping may be locked.
 */
void dual_runners_look(bool all)
{
	unsigned int i;

	/* A runner that takes a thread after this was looked at looks itself. */
	smp_mb();
	for (i = 0; i < dual_slot_count(); i++)
		if (READ_ONCE(dual_slot(i)->state) == PILLION_DUAL_STATE_PRIMARY &&
		    (all || !READ_ONCE(dual_slot(i)->waiting)))
			hypercall(PILLION_DUAL_SIGNAL, PILLION_DUAL_FIRST_SIGNAL + i);
}

static bool has_segments(void)
{
	unsigned int ds, es, fs, gs;

	savesegment(ds, ds);
	savesegment(es, es);
	savesegment(fs, fs);
	savesegment(gs, gs);
	return ds | es | fs | gs;
}

/* Whether the thread has monotonic clocks of its own, as in some containers. */
bool dual_has_clocks(void)
{
	const struct timens_offsets *offsets = &current->nsproxy->time_ns->offsets;

	return offsets->monotonic.tv_sec | offsets->monotonic.tv_nsec | offsets->boottime.tv_sec |
	       offsets->boottime.tv_nsec;
}

/* Whether it has a stack of return addresses beside its own, which is not carried. */
static bool has_shadow_stack(void)
{
#ifdef CONFIG_X86_USER_SHADOW_STACK
	return current->thread.features & ARCH_SHSTK_SHSTK;
#else
	return false;
#endif
}

/* Whether the current thread may run in primary mode. */
static bool may_enter(const struct pt_regs *regs)
{
	return dual_is_real_time() && !current->ptrace && !signal_pending(current) && !READ_ONCE(ends) &&
	       !(current_thread_info()->syscall_work & CALL_WORK) && !(regs->flags & X86_EFLAGS_TF) &&
	       !has_segments() && !has_shadow_stack() && !dual_has_clocks() && task_alive(dual_task);
}

/* Notes what keeps the current thread from primary mode, unless that passes by itself. */
static noinline void note_obstacle(struct dual_process *process, const struct pt_regs *regs)
{
	if (!dual_is_real_time())
		return;
	if (current->ptrace)
		dual_hinder(process, PILLION_DUAL_OBSTACLE_TRACED);
	else if (current_thread_info()->syscall_work & CALL_WORK)
		dual_hinder(process, PILLION_DUAL_OBSTACLE_FILTERED);
	else if (regs->flags & X86_EFLAGS_TF || has_segments() || has_shadow_stack())
		dual_hinder(process, PILLION_DUAL_OBSTACLE_STATE);
	else if (dual_has_clocks())
		dual_hinder(process, PILLION_DUAL_OBSTACLE_CLOCKS);
	else if (!READ_ONCE(ends) && !task_alive(dual_task))
		dual_hinder(process, PILLION_DUAL_OBSTACLE_TASK);
}

/* Has the current thread be where primary mode is. Returns false if it may not. */
static bool stay(struct dual_process *process)
{
	if (dual_stay())
		return true;
	if (dual_hinder(process, PILLION_DUAL_OBSTACLE_AFFINITY))
		pr_notice_ratelimited("%*pE[%d]: stays in Linux: dual mode is on processor %*pbl, which its affinity excludes\n",
				      (int)strlen(current->comm), current->comm, task_tgid_nr(current),
				      cpumask_pr_args(dual_processors()));
	return false;
}

static bool is_sleep(u64 number)
{
	return number == __NR_clock_nanosleep || number == __NR_nanosleep;
}

/*
 * Whether the current thread enters primary mode in its call. Linux takes other numbers for the
 * same call, which primary mode does not know.
 */
static bool is_entrance(const struct pt_regs *regs)
{
	return is_sleep(regs->orig_ax) || dual_futex_enters(regs) ||
	       dual_file_waits(regs->orig_ax, regs->di) || dual_queue_waits(regs->orig_ax, regs->di) ||
	       dual_signal_enters(regs);
}

/* How a thread is offered: flags, and what its call names if they say that it names something. */
struct terms {
	u32 flags;
	const struct pillion_dual_naming *naming;
	u64 time[2];
};

/*
 * Reads the time that a sleep names, which costs less here than in the task, which has to walk the
 * process's page tables. Returns false if Linux has to say what is wrong with its address.
 */
static bool take_time(struct terms *terms, const struct pt_regs *regs)
{
	const u64 __user *time = (const u64 __user *)(regs->orig_ax == __NR_nanosleep ? regs->di : regs->dx);

	if (!user_read_access_begin(time, sizeof(terms->time)))
		return false;
	unsafe_get_user(terms->time[0], &time[0], fault);
	unsafe_get_user(terms->time[1], &time[1], fault);
	user_read_access_end();
	terms->flags |= PILLION_DUAL_FLAG_TIMED;
	return true;
fault:
	user_read_access_end();
	return false;
}

static void offer(struct pillion_dual_slot *slot, struct dual_process *process,
		  const struct dual_thread *thread, const struct pt_regs *regs, const struct terms *terms)
{
	save_registers(&slot->registers, regs);
	save_vectors(slot);
	slot->cr3 = user_page_tables();
	slot->cr4 = __read_cr4();
	slot->priority = terms->flags & PILLION_DUAL_FLAG_ONCE ? 0 : current->rt_priority;
	slot->thread = thread->number;
	slot->process = thread->process;
	slot->memory = READ_ONCE(process->pins.memory);
	slot->flags = terms->flags | (dual_warns(process, thread) ? PILLION_DUAL_FLAG_WARNS : 0);
	if (terms->flags & PILLION_DUAL_FLAG_NAMED)
		slot->naming = *terms->naming;
	if (terms->flags & PILLION_DUAL_FLAG_TIMED)
		memcpy(slot->time, terms->time, sizeof(slot->time));
	/* It stays: only the thread itself takes another table, in Linux. */
	slot->descriptors = virt_to_phys(&current->files->fdt);
	slot->processor = smp_processor_id();
	/* A task that was started anew has forgotten it. */
	WRITE_ONCE(dual_head()->vector, VECTOR);
	memcpy(slot->name, current->comm, sizeof(slot->name));
	slot->calls = 0;
	slot->waits = 0;
	slot->latency_max = 0;
	slot->overruns = 0;
	slot->waiting = 0;
	slot->waits_at_death = 0;
	slot->offer++;
	/* The task reads the state first, then the rest. */
	smp_store_release(&slot->state, PILLION_DUAL_STATE_OFFERED);
}

static bool is_returned(const struct pillion_dual_slot *slot)
{
	return smp_load_acquire(&slot->state) == PILLION_DUAL_STATE_RETURNED;
}

/* Whether Linux asked for the thread: then the task does not ring, and somebody looks. */
static bool is_recalled(const struct pillion_dual_slot *slot)
{
	return READ_ONCE(slot->recall) == slot->offer;
}

/*
 * Asks for a thread. The task is more urgent than Linux, so the thread is there when this returns,
 * unless its budget is used up: then it comes in its next period; or unless this is another
 * processor: then it comes soon. A function of its own, so that ftrace can say how long it takes.
 */
static noinline void recall(unsigned int number)
{
	struct pillion_dual_slot *slot = dual_slot(number);

	WRITE_ONCE(slot->recall, READ_ONCE(slot->offer));
	/* The word is visible before the task looks. */
	smp_mb();
	hypercall(PILLION_DUAL_SIGNAL, PILLION_DUAL_FIRST_SIGNAL + number);
}

void dual_thread_recall(struct dual_thread *thread)
{
	int slot = READ_ONCE(thread->slot);

	if (slot >= 0)
		dual_slot_recall(slot);
}

/*
 * The thread that the caller means may have given up its slot since: then nobody comes back, or
 * another thread of the current process, but none of another process that has the slot by now.
 */
void dual_slot_recall(unsigned int slot)
{
	struct task_struct *owner;
	unsigned long flags;

	/* As long as this is held, the owner does not give up the slot. */
	raw_spin_lock_irqsave(&lock, flags);
	owner = READ_ONCE(owners[slot]);
	if (owner && same_thread_group(owner, current)) {
		recall(slot);
		wake_up_process(owner);
	}
	raw_spin_unlock_irqrestore(&lock, flags);
}

/* A thread that makes one call in primary mode is wherever there was room. */
void dual_threads_move(void)
{
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < dual_slot_count(); i++) {
		int cpu = dual_cpu_of(i);

		raw_spin_lock_irqsave(&lock, flags);
		if (cpu >= 0 && owners[i] && !cpumask_test_cpu(cpu, owners[i]->cpus_ptr) &&
		    !(READ_ONCE(dual_slot(i)->flags) & PILLION_DUAL_FLAG_ONCE)) {
			recall(i);
			wake_up_process(owners[i]);
		}
		raw_spin_unlock_irqrestore(&lock, flags);
	}
}

/*
 * Has Linux wait for the current thread to be given back, as long as it has nothing else to do:
 * without going to sleep, and without the interrupt that would end the sleep. Whatever happens to
 * Linux ends the wait, and interrupts stay disabled, so that it finds the thread asleep. Returns
 * whether the thread was given back.
 */
static bool wait_awake(const struct pillion_dual_slot *slot, unsigned int number)
{
	u64 begin, slots;

	lockdep_assert_irqs_disabled();
	/*
	 * It runs if something woke it up since it looked. Another processor can give this one
	 * something to run that is less urgent, without an interrupt.
	 */
	if (dual_has_several() || task_is_running(current) || !rt_task(current) || !single_task_running() ||
	    need_resched())
		return false;
	begin = local_clock();
	dual_urgency_wait();
	hypercall(PILLION_DUAL_WAIT, 0);
	/* The thread did not use the processor meanwhile. */
	current->se.exec_start += local_clock() - begin;
	dual_urgency_told();
	slots = take_events(this_cpu_read(dual_told)) & ~BIT_ULL(number);
	if (slots)
		wake(slots);
	return is_returned(slot);
}

/*
 * Sleeps until the thread is given back. Returns false if it is lost with the task that it was
 * offered to, the one with that number of starts.
 */
static bool wait_for_return(unsigned int number, u32 start)
{
	struct pillion_dual_slot *slot = dual_slot(number);

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (is_returned(slot) || !task_alive(dual_task) || dual_starts() != start)
			break;
		if (!is_recalled(slot) && !signal_pending(current)) {
			local_irq_disable();
			if (!wait_awake(slot, number))
				schedule();
			local_irq_enable();
			continue;
		}
		recall(number);
		if (!is_returned(slot))
			schedule_timeout_uninterruptible(1);
	}
	__set_current_state(TASK_RUNNING);
	return is_returned(slot);
}

/*
 * Loads the registers of a thread that was given back, and says what is left of its call. Returns
 * false if Linux has yet to make the call.
 */
static bool resume(struct dual_process *process, struct dual_thread *thread,
		   const struct pillion_dual_slot *slot, unsigned int reason, struct pt_regs *regs,
		   long *result, struct dual_rest *rest)
{
	if (reason == PILLION_DUAL_LEFT_REFUSED)
		return false;
	load_vectors(slot);
	if (reason != PILLION_DUAL_LEFT_RECALL)
		dual_report(process, thread, slot, reason);
	if (!(slot->flags & PILLION_DUAL_FLAG_ONCE))
		dual_warn(process, thread, slot, reason);
	*result = load_registers(regs, &slot->registers);
	*rest = (struct dual_rest){ slot->resume, *result, slot->wake_ns };
	if (rest->resume != PILLION_DUAL_RESUME_AT)
		return true;
	/* The same call must not lead back to primary mode. */
	if (reason == PILLION_DUAL_LEFT_CALL && (is_sleep(slot->number) || dual_futex_waits(slot->number, regs->si) ||
					       dual_file_waits(slot->number, regs->di) ||
					       dual_queue_is(slot->number, regs->di) ||
					       (slot->number == __NR_rt_sigtimedwait && slot->signals)))
		thread->native = regs->ip + SYSCALL_LENGTH;
	return true;
}

/* The thread's registers are gone with the task: there is nothing to continue. */
static long lose(void)
{
	pr_err("thread %d was in primary mode when the task %s ended: it is killed\n",
	       task_pid_nr(current), PILLION_DUAL_TASK);
	send_sig(SIGKILL, current, 1);
	return -EINTR;
}

/* Takes an offer back; false if the task has taken it. */
static bool withdraw(struct pillion_dual_slot *slot)
{
	return cmpxchg(&slot->state, PILLION_DUAL_STATE_OFFERED, PILLION_DUAL_STATE_LINUX) == PILLION_DUAL_STATE_OFFERED;
}

/* Runs the current thread in a slot that it has claimed; gives that up. */
static bool run(unsigned int number, struct dual_process *process, struct dual_thread *thread,
		struct pt_regs *regs, const struct terms *terms, long *result)
{
	struct pillion_dual_slot *slot = dual_slot(number);
	struct dual_rest rest = { .resume = PILLION_DUAL_RESUME_AT };
	bool is_done = true, must_leave = true, is_offered = false;
	bool waits = regs->orig_ax == __NR_rt_sigtimedwait;
	unsigned int reason;
	u32 start;

	slot->signals = 0;
	slot->timer_count = 0;
	if (waits)
		dual_signal_begin(number, regs);
	dual_state_memory(&process->pins);
	dual_pins_enter(&process->pins, number);
	local_irq_disable();
	start = dual_starts();
	/* Whoever starts the task anew waits until interrupts are enabled here. */
	if (!READ_ONCE(begins)) {
		offer(slot, process, thread, regs, terms);
		WRITE_ONCE(thread->slot, number);
		/*
		 * Whoever takes the mark away sees the slot, or this thread sees that there is no
		 * mark. The runner may have been signalled for something else, and have taken the
		 * offer.
		 */
		smp_mb();
		must_leave = !READ_ONCE(process->marked) || READ_ONCE(ends);
		is_offered = !must_leave || !withdraw(slot);
	}
	if (is_offered) {
		thread->sums.entries += !(terms->flags & PILLION_DUAL_FLAG_ONCE);
		set_current_state(TASK_INTERRUPTIBLE);
		hypercall(PILLION_DUAL_SIGNAL, (PILLION_DUAL_FIRST_SIGNAL + number) | dual_urgency_leave());
	}
	local_irq_enable();
	if (is_offered) {
		if (must_leave)
			recall(number);
		if (wait_for_return(number, start)) {
			if (!fatal_signal_pending(current))
				dual_urgency_run();
			reason = dual_why(slot);
			dual_account(thread, slot, reason, start);
			is_done = resume(process, thread, slot, reason, regs, result, &rest);
		} else if (withdraw(slot)) {
			/* The task ended before it took the thread. */
			is_done = false;
		} else {
			*result = lose();
		}
	} else {
		is_done = false;
	}
	dual_pins_leave(&process->pins, number);
	if (waits)
		dual_signal_end(number);
	WRITE_ONCE(thread->slot, -1);
	WRITE_ONCE(slot->state, PILLION_DUAL_STATE_LINUX);
	release(number);
	/* This may take as long as the thread's sleep, and others want the slot. */
	if (is_done && rest.resume != PILLION_DUAL_RESUME_AT)
		*result = dual_continue(regs, &rest);
	return is_done;
}

/*
 * Runs the current thread in primary mode, from the system call with these registers. Returns false
 * if Linux has to make the call; else it continues with `regs`, which may be anywhere, and `result`
 * in rax.
 */
bool dual_thread_run(struct dual_process *process, struct dual_thread *thread, struct pt_regs *regs,
		     long *result)
{
	struct terms terms = { 0 };
	int number, error;

	if (!is_entrance(regs))
		return false;
	if (!may_enter(regs)) {
		note_obstacle(process, regs);
		return false;
	}
	error = dual_pin(&process->pins);
	if (error) {
		dual_warn_of_memory(process, thread, error);
		return false;
	}
	if (!thread)
		thread = dual_thread_of_current(process);
	if (!thread)
		return false;
	if (thread->native == regs->ip) {
		thread->native = 0;
		return false;
	}
	if (is_sleep(regs->orig_ax) && !take_time(&terms, regs))
		return false;
	if (!stay(process))
		return false;
	number = claim(raw_smp_processor_id());
	if (number < 0 && dual_hinder(process, PILLION_DUAL_OBSTACLE_THREADS))
		pr_notice_ratelimited("%*pE[%d]: stays in Linux: all %u threads of [dual] are in use; raise `threads`\n",
				      (int)strlen(current->comm), current->comm, task_tgid_nr(current),
				      dual_slot_count());
	return number >= 0 && run(number, process, thread, regs, &terms, result);
}

static void load_rax(struct callback_head *work)
{
	task_pt_regs(current)->ax = container_of(work, struct dual_thread, going_on)->rax;
	module_put(THIS_MODULE);
}

/*
 * The current thread continues with that value of rax, which is any. Linux takes an ioctl's result
 * for an `int`, and one of its values for another error.
 */
static void go_on_with(struct dual_thread *thread, long rax)
{
	if (rax == (int)rax && rax != -ENOIOCTLCMD)
		return;
	thread->rax = rax;
	init_task_work(&thread->going_on, load_rax);
	__module_get(THIS_MODULE);
	/* It is done before any signal is looked at. A thread that ends needs it no more. */
	if (task_work_add(current, &thread->going_on, TWA_RESUME))
		module_put(THIS_MODULE);
}

static bool is_named(unsigned int number)
{
	return number == PILLION_DUAL_SERVICE_OPEN || number == PILLION_DUAL_SERVICE_UNLINK;
}

/*
 * Has primary mode answer one of its own system calls for the current thread, which made an ioctl
 * with the same arguments. It stays in primary mode afterwards if it may run there. If it comes
 * back at the call, it makes that in Linux, where there is no such call, and then this ioctl again.
 */
long dual_thread_call(struct dual_process *process, unsigned int number, unsigned long argument)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct dual_thread *thread;
	struct pillion_dual_naming naming;
	struct dual_message message;
	struct terms terms = { .naming = &naming };
	long result;
	bool stays;
	int slot, error;

	if (regs->orig_ax != __NR_ioctl || !user_64bit_mode(regs))
		return -ENOTTY;
	if (dual_has_clocks())
		return -EOPNOTSUPP;
	if (is_named(number)) {
		terms.flags = PILLION_DUAL_FLAG_NAMED;
		result = dual_naming(&naming, (const void __user *)argument);
		if (result)
			return result;
	}
	thread = dual_thread_of_current(process);
	if (!thread)
		return -ENOMEM;
	stays = may_enter(regs);
	if (!stays)
		note_obstacle(process, regs);
	stays = stays && stay(process);
	error = stays ? dual_pin(&process->pins) : 0;
	if (error) {
		dual_warn_of_memory(process, thread, error);
		stays = false;
	}
	if (!stays) {
		terms.flags |= PILLION_DUAL_FLAG_ONCE;
		if (READ_ONCE(ends) || !task_alive(dual_task) || dual_pins_follow(&process->pins))
			return -EAGAIN;
	}
	if (terms.flags & PILLION_DUAL_FLAG_NAMED)
		WRITE_ONCE(process->pins.has_names, true);
	result = dual_message_pin(&message, number, regs);
	if (result)
		return result;
	/* No caller expects that the call fails because others wait. */
	while ((slot = claim(stays ? raw_smp_processor_id() : -1)) < 0) {
		if (signal_pending(current)) {
			dual_message_unpin(&message);
			return -ERESTARTNOINTR;
		}
		schedule_timeout_interruptible(1);
	}
	regs->orig_ax = PILLION_DUAL_SERVICE_FIRST + number;
	if (run(slot, process, thread, regs, &terms, &result)) {
		go_on_with(thread, result);
	} else {
		regs->orig_ax = __NR_ioctl;
		result = -EAGAIN;
	}
	dual_message_unpin(&message);
	return result;
}

/*
 * The task interrupts Linux with a vector that Linux's own hypervisor does not use here, since
 * there is no virtualisation in a guest; without it, by the doorbell.
 */
static void listen(void (*handler)(void))
{
#if VECTOR
	kvm_set_posted_intr_wakeup_handler(handler);
#endif
}

/* Whether the task has a vector of its own to interrupt Linux with. */
bool dual_thread_has_vector(void)
{
	return VECTOR;
}

/* Whether a thread is in primary mode, or about to be. */
static bool any_away(void)
{
	unsigned int i;

	for (i = 0; i < dual_slot_count(); i++) {
		u32 state = READ_ONCE(dual_slot(i)->state);

		if (state == PILLION_DUAL_STATE_OFFERED || state == PILLION_DUAL_STATE_PRIMARY)
			return true;
	}
	return false;
}

/*
 * Afterwards no thread is between a look at which start of the task it is and its offer, nor has
 * one yet to learn that it is lost with the task that has ended.
 */
void dual_stop_offering(void)
{
	unsigned int i;

	mutex_lock(&beginning);
	WRITE_ONCE(begins, true);
	/* Whoever has looked at that before has interrupts disabled. */
	synchronize_rcu();
	for (i = 0; i < PATIENCE && any_away() && !task_alive(dual_task); i++)
		msleep(1);
}

void dual_go_on_offering(void)
{
	WRITE_ONCE(begins, false);
	mutex_unlock(&beginning);
}

/* Another kernel takes over the memory (kexec), or the machine stops: threads return to Linux. */
static int restarts(struct notifier_block *block, unsigned long how, void *command)
{
	unsigned int i;

	WRITE_ONCE(ends, true);
	smp_mb();
	for (i = 0; i < dual_slot_count(); i++)
		recall(i);
	/* The task is on another processor, or waits for time. */
	for (i = 0; i < PATIENCE && any_away() && task_alive(dual_task); i++)
		msleep(1);
	wake(U64_MAX);
	dual_urgency_end();
	return NOTIFY_DONE;
}

static struct notifier_block reboot = { .notifier_call = restarts };

/* Linux panics: threads in primary mode can know it. */
static int panics(struct notifier_block *block, unsigned long zero, void *text)
{
	unsigned int i;

	for (i = 0; i < dual_slot_count(); i++)
		WRITE_ONCE(dual_slot(i)->waits_at_death, READ_ONCE(dual_slot(i)->waits));
	WRITE_ONCE(dual_head()->life, PILLION_DUAL_LIFE_PANICKED);
	dual_urgency_panic();
	return NOTIFY_DONE;
}

/* Before others, which may take long. */
static struct notifier_block panic_block = { .notifier_call = panics, .priority = INT_MAX };

int dual_thread_open(void)
{
	unsigned int i;
	int error = register_reboot_notifier(&reboot);

	if (error)
		return error;
	for (i = 0; i < dual_slot_count(); i++)
		WRITE_ONCE(dual_slot(i)->state, PILLION_DUAL_STATE_LINUX);
	dual_account_open();
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	listen(ring_here);
	return 0;
}

void dual_thread_close(void)
{
	WRITE_ONCE(dual_head()->vector, 0);
	listen(NULL);
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
	unregister_reboot_notifier(&reboot);
}
