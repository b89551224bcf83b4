// SPDX-License-Identifier: GPL-2.0-only
/*
 * The system calls in which a thread enters primary mode, those in which it becomes a real-time
 * thread, those about futexes, those that make eventfds, timerfds and timers or set them, those
 * about message queues, and the functions by which Linux's kernel gets at eventfds. ftrace calls
 * the hook at the beginning of such a call; if it can concern dual mode (the process may be marked,
 * its memory may have waiters, or there are such files), the call continues in this module, which
 * carries it out or calls Linux's own function. ftrace then calls the hook once more, which knows
 * by the caller that this call is for Linux.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/file.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mqueue.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/version.h>
#include <asm/ptrace.h>
#include <asm/unistd.h>

#include "dual.h"
#include "dual_file.h"
#include "dual_queue.h"

typedef long (*call)(const struct pt_regs *regs);

struct hook {
	const char *name;
	unsigned long number;
	struct ftrace_ops operations;
	/* Where a call continues. */
	void *entered;
	/* Linux's function. */
	void *original;
};

static long entered(const struct pt_regs *regs);
static long became_urgent(const struct pt_regs *regs);
static long futex(const struct pt_regs *regs);
static long makes_event(const struct pt_regs *regs);
static long makes_timer(const struct pt_regs *regs);
static long sets_timer(const struct pt_regs *regs);
static long gets_timer(const struct pt_regs *regs);
static long makes_signal(const struct pt_regs *regs);
/* Makes a call in Linux, with the module's part of it. */
static long makes_in_linux(const struct pt_regs *regs, call whole)
{
	long result = whole(regs);

	module_put(THIS_MODULE);
	return result;
}

static long sets_signal(const struct pt_regs *regs);
static long uses_signal(const struct pt_regs *regs);
static long moves(const struct pt_regs *regs);
static struct file *event_file(int descriptor);
static struct eventfd_ctx *event_of_descriptor(int descriptor);
static struct eventfd_ctx *event_of_file(struct file *file);
static long makes_queue(const struct pt_regs *regs);
static int queue_sends(mqd_t descriptor, const char __user *text, size_t length, unsigned int priority,
		       struct timespec64 *until);
static int queue_receives(mqd_t descriptor, char __user *text, size_t room, unsigned int __user *priority,
			  struct timespec64 *until);
static int queue_notifies(mqd_t descriptor, const struct sigevent *how);
static int queue_changes(mqd_t descriptor, struct mq_attr *new, struct mq_attr *old);
static void queue_ends(struct inode *inode);
static void notrace queue_hook(unsigned long ip, unsigned long parent, struct ftrace_ops *operations,
			       struct ftrace_regs *registers);

/* Has the call continue in this module, unless it comes from there. */
static __always_inline void divert(const struct hook *this, unsigned long parent, struct ftrace_regs *registers)
{
	if (within_module(parent, THIS_MODULE))
		return;
	/* The call returns to this module, however long it sleeps in Linux. */
	if (!try_module_get(THIS_MODULE))
		return;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	ftrace_regs_set_instruction_pointer(registers, (unsigned long)this->entered);
#else
	ftrace_instruction_pointer_set(registers, (unsigned long)this->entered);
#endif
}

static void notrace hook(unsigned long ip, unsigned long parent, struct ftrace_ops *operations,
			 struct ftrace_regs *registers)
{
	if (dual_may_be_marked(current))
		divert(container_of(operations, struct hook, operations), parent, registers);
}

/* Futexes are the memory's, which another process can use as well (vfork, CLONE_VM). */
static void notrace futex_hook(unsigned long ip, unsigned long parent, struct ftrace_ops *operations,
			       struct ftrace_regs *registers)
{
	if (dual_may_be_marked(current) || dual_futex_may_be(current->mm))
		divert(container_of(operations, struct hook, operations), parent, registers);
}

/*
 * Linux goes on with a call. This function has no arguments, so it is also that of 32-bit calls,
 * which have other numbers, and are Linux's.
 */
static void notrace restart_hook(unsigned long ip, unsigned long parent, struct ftrace_ops *operations,
				 struct ftrace_regs *registers)
{
	if (!in_ia32_syscall())
		futex_hook(ip, parent, operations, registers);
}

/* Files can have been passed on to any process. */
static void notrace file_hook(unsigned long ip, unsigned long parent, struct ftrace_ops *operations,
			      struct ftrace_regs *registers)
{
	if (dual_file_any())
		divert(container_of(operations, struct hook, operations), parent, registers);
}

/* Any process with the right to do so can move a thread. */
static void notrace move_hook(unsigned long ip, unsigned long parent, struct ftrace_ops *operations,
			      struct ftrace_regs *registers)
{
	if (dual_has_several())
		divert(container_of(operations, struct hook, operations), parent, registers);
}

/* Nobody else can divert these functions, nor switch all hooks off, while these are there. */
#define FLAGS (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_PERMANENT)

#define ENTRY(function, call, hooked, continues)                    \
	{                                                           \
		.name = function, .number = call, .entered = continues, \
		.operations = { .func = hooked, .flags = FLAGS }    \
	}

#define HOOK(call, hooked, continues) ENTRY("__x64_sys_" #call, __NR_##call, hooked, continues)
/* A function of Linux's that is no call. */
#define INNER(function, hooked, continues) ENTRY(#function, ULONG_MAX, hooked, continues)

/* Those for users of eventfds in Linux's kernel. */
enum { EVENT_FILE, EVENT_OF_DESCRIPTOR, EVENT_OF_FILE };

static struct hook hooks[] = {
	[EVENT_FILE] = INNER(eventfd_fget, file_hook, event_file),
	[EVENT_OF_DESCRIPTOR] = INNER(eventfd_ctx_fdget, file_hook, event_of_descriptor),
	[EVENT_OF_FILE] = INNER(eventfd_ctx_fileget, file_hook, event_of_file),
	HOOK(clock_nanosleep, hook, entered),
	HOOK(nanosleep, hook, entered),
	HOOK(sched_setscheduler, hook, became_urgent),
	HOOK(sched_setattr, hook, became_urgent),
	HOOK(sched_setaffinity, move_hook, moves),
	HOOK(eventfd, hook, makes_event),
	HOOK(eventfd2, hook, makes_event),
	HOOK(timerfd_create, hook, makes_timer),
	HOOK(timerfd_settime, file_hook, sets_timer),
	HOOK(timerfd_gettime, file_hook, gets_timer),
	HOOK(timer_create, hook, makes_signal),
	HOOK(timer_settime, hook, sets_signal),
	HOOK(timer_gettime, hook, uses_signal),
	HOOK(timer_getoverrun, hook, uses_signal),
	HOOK(timer_delete, hook, uses_signal),
	HOOK(rt_sigtimedwait, hook, entered),
	HOOK(futex, futex_hook, futex),
	HOOK(futex_waitv, futex_hook, futex),
	HOOK(restart_syscall, restart_hook, futex),
#ifdef __NR_futex_requeue
	HOOK(futex_wait, futex_hook, futex),
	HOOK(futex_wake, futex_hook, futex),
	HOOK(futex_requeue, futex_hook, futex),
#endif
};

/*
 * Calls about message queues, and what is behind them. Where Linux has these not, queues stay its
 * own. ftrace knows all of them as one, for it takes long to unload each.
 */
enum { QUEUE_SEND, QUEUE_RECEIVE, QUEUE_NOTIFY, QUEUE_CHANGE, QUEUE_END };

static struct hook queue_hooks[] = {
	[QUEUE_SEND] = INNER(do_mq_timedsend, queue_hook, queue_sends),
	[QUEUE_RECEIVE] = INNER(do_mq_timedreceive, queue_hook, queue_receives),
	[QUEUE_NOTIFY] = INNER(do_mq_notify, queue_hook, queue_notifies),
	[QUEUE_CHANGE] = INNER(do_mq_getsetattr, queue_hook, queue_changes),
	[QUEUE_END] = INNER(mqueue_evict_inode, queue_hook, queue_ends),
	HOOK(mq_open, queue_hook, makes_queue),
	HOOK(mq_timedsend, queue_hook, entered),
	HOOK(mq_timedreceive, queue_hook, entered),
};

static struct ftrace_ops queue_operations = { .func = queue_hook, .flags = FLAGS };

static bool has_queues;

/* Queues can have been passed on to any process, and others find them by their names. */
static void notrace queue_hook(unsigned long ip, unsigned long parent, struct ftrace_ops *operations,
			       struct ftrace_regs *registers)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(queue_hooks); i++)
		if (ip - (unsigned long)queue_hooks[i].original <= DUAL_ENDBR_BYTES)
			break;
	if (i == ARRAY_SIZE(queue_hooks))
		return;
	if (queue_hooks[i].number == ULONG_MAX ? dual_queue_any() : dual_may_be_marked(current))
		divert(&queue_hooks[i], parent, registers);
}

/*
 * Linux's own function, of a call of 64-bit programs, which its number names. The call must not be
 * the last thing done here: it returns to the module.
 */
noinline long dual_natively(const struct pt_regs *regs)
{
	u32 number = dual_number(regs);
	long result = -ENOSYS;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (hooks[i].number == number)
			result = ((call)hooks[i].original)(regs);
	for (i = QUEUE_END + 1; i < ARRAY_SIZE(queue_hooks); i++)
		if (queue_hooks[i].number == number)
			result = ((call)queue_hooks[i].original)(regs);
	barrier();
	return result;
}

/* Makes a call in primary mode, or with Linux's part of it. */
static long enter(const struct pt_regs *regs, call in_linux)
{
	struct dual_thread *thread;
	struct dual_process *process = dual_process_and_thread(&thread);
	long result;

	if (!process || !dual_thread_run(process, thread, (struct pt_regs *)regs, &result))
		result = in_linux(regs);
	if (process)
		dual_process_put(process);
	module_put(THIS_MODULE);
	return result;
}

static long entered(const struct pt_regs *regs)
{
	return enter(regs, dual_natively);
}

static long futex(const struct pt_regs *regs)
{
	return enter(regs, dual_futex);
}

/*
 * Pins the memory as soon as a thread of the process is urgent: it takes long, and would make the
 * first sleep late.
 */
static noinline long became_urgent(const struct pt_regs *regs)
{
	long result = dual_natively(regs);
	struct dual_thread *thread;
	struct dual_process *process = dual_process_and_thread(&thread);
	int error = process && !result ? dual_pin(&process->pins) : 0;

	if (error)
		dual_warn_of_memory(process, thread, error);
	/* The scheduler does not switch if the thread runs on. */
	dual_urgency_run();
	if (process)
		dual_process_put(process);
	module_put(THIS_MODULE);
	return result;
}

static noinline long moves(const struct pt_regs *regs)
{
	long result = dual_natively(regs);

	if (!result)
		dual_threads_move();
	module_put(THIS_MODULE);
	return result;
}

/* Makes a file, which becomes one of both sides if the process is marked. */
static long makes(const struct pt_regs *regs, call for_both)
{
	struct dual_process *process = dual_process_of_current();
	long result = process ? for_both(regs) : dual_natively(regs);

	if (process)
		dual_process_put(process);
	module_put(THIS_MODULE);
	return result;
}

static long makes_event(const struct pt_regs *regs)
{
	return makes(regs, dual_event_make);
}

static long makes_timer(const struct pt_regs *regs)
{
	return makes(regs, dual_timer_make);
}

static long makes_signal(const struct pt_regs *regs)
{
	return makes(regs, dual_signal_make);
}

static long sets_signal(const struct pt_regs *regs)
{
	return makes_in_linux(regs, dual_signal_set);
}

static long uses_signal(const struct pt_regs *regs)
{
	return makes_in_linux(regs, dual_signal_use);
}

static long sets_timer(const struct pt_regs *regs)
{
	return makes_in_linux(regs, dual_timer_set);
}

static long gets_timer(const struct pt_regs *regs)
{
	return makes_in_linux(regs, dual_timer_get);
}

/*
 * Users of eventfds in Linux's kernel find one that is Linux's alone from then on. The calls must
 * not be the last thing done here, as above.
 */
static void end_leave(struct dual_file *event, struct file *file)
{
	if (event)
		dual_file_mask(event);
	if (file)
		fput(file);
	module_put(THIS_MODULE);
}

static struct file *event_file(int descriptor)
{
	struct file *(*original)(int) = hooks[EVENT_FILE].original;
	struct file *file = fget(descriptor), *result;
	struct dual_file *event = dual_event_leave(file);

	result = original(descriptor);
	end_leave(event, file);
	return result;
}

static struct eventfd_ctx *event_of_descriptor(int descriptor)
{
	struct eventfd_ctx *(*original)(int) = hooks[EVENT_OF_DESCRIPTOR].original;
	struct file *file = fget(descriptor);
	struct dual_file *event = dual_event_leave(file);
	struct eventfd_ctx *result = original(descriptor);

	end_leave(event, file);
	return result;
}

static struct eventfd_ctx *event_of_file(struct file *file)
{
	struct eventfd_ctx *(*original)(struct file *) = hooks[EVENT_OF_FILE].original;
	struct dual_file *event = dual_event_leave(file);
	struct eventfd_ctx *result = original(file);

	end_leave(event, NULL);
	return result;
}

static long makes_queue(const struct pt_regs *regs)
{
	return makes(regs, dual_queue_make);
}

/* These must not be the last thing done here, either. */
int dual_queue_native_send(int descriptor)
{
	typeof(queue_sends) *original = queue_hooks[QUEUE_SEND].original;
	struct timespec64 past = { 0 };
	int result = original(descriptor, NULL, 0, 0, &past);

	barrier();
	return result;
}

int dual_queue_native_receive(int descriptor, size_t room)
{
	typeof(queue_receives) *original = queue_hooks[QUEUE_RECEIVE].original;
	struct timespec64 past = { 0 };
	int result = original(descriptor, NULL, room, NULL, &past);

	barrier();
	return result;
}

int dual_queue_native_notify(int descriptor, const struct sigevent *how)
{
	typeof(queue_notifies) *original = queue_hooks[QUEUE_NOTIFY].original;
	int result = original(descriptor, how);

	barrier();
	return result;
}

int dual_queue_attributes(int descriptor, struct mq_attr *attributes)
{
	typeof(queue_changes) *original = queue_hooks[QUEUE_CHANGE].original;
	int result = has_queues ? original(descriptor, NULL, attributes) : -ENOSYS;

	barrier();
	return result;
}

static void end_queue(struct file *file)
{
	if (file)
		fput(file);
	module_put(THIS_MODULE);
}

static int queue_sends(mqd_t descriptor, const char __user *text, size_t length, unsigned int priority,
		       struct timespec64 *until)
{
	typeof(queue_sends) *original = queue_hooks[QUEUE_SEND].original;
	struct file *file = fget(descriptor);
	int result;

	if (file && dual_queue_of(file) && priority < PILLION_DUAL_QUEUE_PRIORITIES)
		result = dual_queue_send(file, text, length, priority, until);
	else
		result = original(descriptor, text, length, priority, until);
	end_queue(file);
	return result;
}

static int queue_receives(mqd_t descriptor, char __user *text, size_t room, unsigned int __user *priority,
			  struct timespec64 *until)
{
	typeof(queue_receives) *original = queue_hooks[QUEUE_RECEIVE].original;
	struct file *file = fget(descriptor);
	int result;

	if (file && dual_queue_of(file))
		result = dual_queue_receive(file, text, room, priority, until);
	else
		result = original(descriptor, text, room, priority, until);
	end_queue(file);
	return result;
}

static int queue_notifies(mqd_t descriptor, const struct sigevent *how)
{
	typeof(queue_notifies) *original = queue_hooks[QUEUE_NOTIFY].original;
	struct file *file = fget(descriptor);
	int result;

	if (file && dual_queue_of(file))
		result = dual_queue_notify(file, how);
	else
		result = original(descriptor, how);
	end_queue(file);
	return result;
}

static int queue_changes(mqd_t descriptor, struct mq_attr *new, struct mq_attr *old)
{
	typeof(queue_changes) *original = queue_hooks[QUEUE_CHANGE].original;
	struct file *file = fget(descriptor);
	int result;

	if (file && dual_queue_of(file))
		result = dual_queue_change(file, new, old);
	else
		result = original(descriptor, new, old);
	end_queue(file);
	return result;
}

static void queue_ends(struct inode *inode)
{
	typeof(queue_ends) *original = queue_hooks[QUEUE_END].original;

	dual_queue_end(inode);
	original(inode);
	module_put(THIS_MODULE);
}

static void remove(unsigned int count)
{
	while (count--) {
		unregister_ftrace_function(&hooks[count].operations);
		ftrace_free_filter(&hooks[count].operations);
	}
}

/* Finds a function of Linux's: a probe that is not armed says where it is. */
void *dual_function(const char *name)
{
	struct kprobe probe = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };
	int error = register_kprobe(&probe);

	if (error)
		return ERR_PTR(error);
	unregister_kprobe(&probe);
	return probe.addr;
}

static void cannot(const char *what, int error)
{
	pr_err("%s cannot be hooked: error %d; is a live patch loaded, or ftrace_enabled 0?\n", what, error);
}

/* Adds a function to those of some hooks. */
static int find(struct hook *this, struct ftrace_ops *operations)
{
	this->original = dual_function(this->name);
	if (IS_ERR(this->original))
		return PTR_ERR(this->original);
	return ftrace_set_filter_ip(operations, (unsigned long)this->original, 0, 0);
}

static int add(struct hook *this)
{
	int error = find(this, &this->operations);

	if (!error)
		error = register_ftrace_function(&this->operations);
	if (error) {
		ftrace_free_filter(&this->operations);
		cannot(this->name, error);
	}
	return error;
}

static int add_queues(void)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < ARRAY_SIZE(queue_hooks) && !error; i++)
		error = find(&queue_hooks[i], &queue_operations);
	if (!error)
		error = register_ftrace_function(&queue_operations);
	if (error) {
		ftrace_free_filter(&queue_operations);
		cannot("message queues", error);
	}
	return error;
}

int dual_hook_open(void)
{
	unsigned int i;
	int error;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		error = add(&hooks[i]);
		if (error) {
			remove(i);
			return error;
		}
	}
	has_queues = !add_queues();
	return 0;
}

void dual_hook_close(void)
{
	if (has_queues) {
		unregister_ftrace_function(&queue_operations);
		ftrace_free_filter(&queue_operations);
	}
	remove(ARRAY_SIZE(hooks));
}
