// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device /dev/pillion-dual: which processes have threads that may enter primary mode, and what
 * these threads did.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>
#include <asm/cpufeature.h>

#include "dual.h"
#include "window.h"

/* Ended processes that one file can still tell of. */
#define MOST_PROCESSES 16

/* Threads of a process from which on those that have ended are forgotten. */
#define MOST_THREADS 64

struct task *dual_task;

/* Those that have not been found to have ended, and the same by their bits. */
static LIST_HEAD(processes);
static struct hlist_head by_bit[DUAL_MARKS];
DECLARE_BITMAP(dual_marks, DUAL_MARKS);

/* Guards the processes, their threads, and the bits. */
static DEFINE_SPINLOCK(lock);

/* The process with that number, if it is known. The caller holds the lock. */
static struct dual_process *find(struct pid *pid)
{
	struct dual_process *process;

	hlist_for_each_entry(process, &by_bit[pid_nr(pid) % DUAL_MARKS], same)
		if (process->pid == pid)
			return process;
	return NULL;
}

/*
 * Whether the current thread may do nothing that whoever marked its process could not do. A program
 * that gained rights when it was executed keeps what it did with them, even if it gave them up:
 * Linux lets nobody trace it or see its core dump then.
 */
static bool has_no_more_rights(const struct dual_process *process)
{
	const struct cred *cred = current_cred(), *marker = process->marker;
	bool gained_none = current->mm == process->marked_in ||
			   get_dumpable(current->mm) == SUID_DUMP_USER;

	return gained_none && uid_eq(cred->euid, marker->euid) &&
	       gid_eq(cred->egid, marker->egid) &&
	       cap_issubset(cred->cap_permitted, marker->cap_permitted);
}

/* The entry of the current thread; NULL if there is none. The caller holds the lock. */
static struct dual_thread *find_thread(const struct dual_process *process)
{
	struct dual_thread *thread;

	list_for_each_entry(thread, &process->threads, link)
		if (thread->pid == task_pid(current))
			return thread;
	return NULL;
}

/*
 * The current process, if it is marked, and its entry of the current thread, if there is one; the
 * caller puts the process.
 */
struct dual_process *dual_process_and_thread(struct dual_thread **thread)
{
	struct dual_process *process;

	spin_lock(&lock);
	process = find(task_tgid(current));
	if (process && (!process->marked || !has_no_more_rights(process))) {
		if (process->marked && dual_is_real_time())
			dual_hinder(process, PILLION_DUAL_OBSTACLE_RIGHTS);
		process = NULL;
	}
	if (process) {
		refcount_inc(&process->references);
		*thread = find_thread(process);
	}
	spin_unlock(&lock);
	return process;
}

/* The current process, if it is marked; the caller puts it. */
struct dual_process *dual_process_of_current(void)
{
	struct dual_thread *thread;

	return dual_process_and_thread(&thread);
}

static unsigned int bit_of(const struct dual_process *process)
{
	return pid_nr(process->pid) % DUAL_MARKS;
}

/* Takes a mark away. The bit stays for others that have the same; nobody else's is ever missing. */
static void clear_mark(struct dual_process *process)
{
	struct dual_process *other;

	process->marked = false;
	hlist_for_each_entry(other, &by_bit[bit_of(process)], same)
		if (other->marked)
			return;
	clear_bit(bit_of(process), dual_marks);
}

static void free_process(struct dual_process *process)
{
	struct dual_thread *thread, *next;

	while (process->place_count)
		kfree(process->places[--process->place_count]);
	dual_pins_end(&process->pins);
	list_for_each_entry_safe(thread, next, &process->threads, link) {
		put_pid(thread->pid);
		kfree(thread);
	}
	put_cred(process->marker);
	mmdrop(process->marked_in);
	put_pid(process->pid);
	kfree(process);
}

/* While it can be found, it has a reference for that. */
void dual_process_put(struct dual_process *process)
{
	if (refcount_dec_and_test(&process->references))
		free_process(process);
}

/*
 * The entry of a process that has ended, which nobody finds any more: whoever keeps many of them
 * makes no call of another process longer. NULL if there is none.
 */
static struct dual_process *take_ended(void)
{
	struct dual_process *process;

	list_for_each_entry(process, &processes, link) {
		if (!process->lives || pid_task(process->pid, PIDTYPE_TGID))
			continue;
		process->lives = false;
		list_del(&process->link);
		hlist_del(&process->same);
		clear_mark(process);
		return process;
	}
	return NULL;
}

/* Forgets processes that have ended, unless a file still wants to know about them. */
static void sweep(void)
{
	struct dual_process *process;

	do {
		rcu_read_lock();
		spin_lock(&lock);
		process = take_ended();
		spin_unlock(&lock);
		rcu_read_unlock();
		if (process)
			dual_process_put(process);
	} while (process);
}

/* Forgets threads that have ended if there are many. The caller holds the lock. */
static void forget_ended(struct dual_process *process)
{
	struct dual_thread *thread, *next;

	if (process->thread_count < MOST_THREADS)
		return;
	list_for_each_entry_safe(thread, next, &process->threads, link)
		if (!pid_task(thread->pid, PIDTYPE_PID)) {
			list_del(&thread->link);
			process->thread_count--;
			put_pid(thread->pid);
			kfree(thread);
		}
}

/* The entry of the current thread, which is made if there is none; NULL without memory. */
struct dual_thread *dual_thread_of_current(struct dual_process *process)
{
	struct dual_thread *thread, *fresh;

	spin_lock(&lock);
	thread = find_thread(process);
	spin_unlock(&lock);
	if (thread)
		return thread;
	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh)
		return NULL;
	fresh->pid = get_pid(task_pid(current));
	fresh->number = task_pid_vnr(current);
	fresh->process = task_tgid_vnr(current);
	fresh->slot = -1;
	get_task_comm(fresh->sums.name, current);
	rcu_read_lock();
	spin_lock(&lock);
	forget_ended(process);
	/* Only the thread itself adds its entry. */
	list_add_tail(&fresh->link, &process->threads);
	process->thread_count++;
	spin_unlock(&lock);
	rcu_read_unlock();
	return fresh;
}

/* What a file marked, and still tells of. */
struct owner {
	struct mutex lock;
	unsigned int count;
	struct dual_process *processes[MOST_PROCESSES];
};

static struct dual_process *make(void)
{
	struct dual_process *process = kzalloc(sizeof(*process), GFP_KERNEL_ACCOUNT);

	if (!process)
		return NULL;
	process->pid = get_pid(task_tgid(current));
	process->marker = get_current_cred();
	process->marked_in = current->mm;
	mmgrab(process->marked_in);
	process->lives = true;
	refcount_set(&process->references, 1);
	INIT_LIST_HEAD(&process->threads);
	dual_pins_init(&process->pins);
	mutex_init(&process->report);
	return process;
}

static bool holds(const struct owner *owner, const struct dual_process *process)
{
	unsigned int i;

	for (i = 0; i < owner->count; i++)
		if (owner->processes[i] == process)
			return true;
	return false;
}

/* Has a file hold a process that it marks, if there is room. */
static void hold(struct owner *owner, struct dual_process *process)
{
	if (owner->count == MOST_PROCESSES || holds(owner, process))
		return;
	refcount_inc(&process->references);
	owner->processes[owner->count++] = process;
}

/* Marks the current process. */
static int mark_current(struct owner *owner, const struct pillion_dual_mark *mark)
{
	struct dual_process *fresh = make(), *process;

	if (!fresh)
		return -ENOMEM;
	spin_lock(&lock);
	process = find(fresh->pid);
	if (!process) {
		process = fresh;
		list_add_tail(&process->link, &processes);
		hlist_add_head(&process->same, &by_bit[bit_of(process)]);
	}
	process->marked = true;
	swap(process->marker, fresh->marker);
	swap(process->marked_in, fresh->marked_in);
	process->flags = (process->flags & ~mark->clear) | (mark->flags & ~PILLION_DUAL_WARN_THREAD);
	process->is_warned = false;
	hold(owner, process);
	set_bit(bit_of(process), dual_marks);
	spin_unlock(&lock);
	if (process != fresh)
		free_process(fresh);
	return 0;
}

/* Has the current thread told of switches, or no more. */
static int warn_thread(bool warns)
{
	struct dual_thread *thread;
	struct dual_process *process = dual_process_and_thread(&thread);

	if (!process)
		return -ENOENT;
	if (!thread && warns)
		thread = dual_thread_of_current(process);
	if (thread)
		thread->warns = warns;
	dual_process_put(process);
	return thread || !warns ? 0 : -ENOMEM;
}

static int mark(struct owner *owner, const void __user *user)
{
	struct pillion_dual_mark mark;
	int error;

	if (!capable(CAP_SYS_NICE) && !rlimit(RLIMIT_RTPRIO))
		return -EPERM;
	if (copy_from_user(&mark, user, sizeof(mark)))
		return -EFAULT;
	if ((mark.flags | mark.clear) &
	    ~(PILLION_DUAL_WARN | PILLION_DUAL_REPORT | PILLION_DUAL_WARN_THREAD))
		return -EINVAL;
	sweep();
	mutex_lock(&owner->lock);
	error = mark_current(owner, &mark);
	mutex_unlock(&owner->lock);
	if (!error && (mark.flags | mark.clear) & PILLION_DUAL_WARN_THREAD)
		error = warn_thread(mark.flags & PILLION_DUAL_WARN_THREAD);
	return error;
}

/* Its threads return to Linux: each is there as soon as its recall returns. */
static int unmark(void)
{
	struct dual_process *process = dual_process_of_current();
	struct dual_thread *thread;

	if (!process)
		return -ENOENT;
	spin_lock(&lock);
	clear_mark(process);
	/* Pairs with the barrier of a thread that enters. */
	smp_mb();
	list_for_each_entry(thread, &process->threads, link)
		dual_thread_recall(thread);
	spin_unlock(&lock);
	dual_process_put(process);
	return 0;
}

/* What a thread did, what it does now included. */
static void show(const struct dual_process *process, const struct dual_thread *thread,
		 struct pillion_dual_thread *shown)
{
	struct task_struct *task;
	int slot = READ_ONCE(thread->slot);

	*shown = thread->sums;
	shown->thread = pid_vnr(thread->pid);
	shown->process = pid_vnr(process->pid);
	rcu_read_lock();
	task = pid_task(thread->pid, PIDTYPE_PID);
	if (task) {
		shown->priority = task->rt_priority;
		shown->secondary_ns = task->se.sum_exec_runtime;
		memcpy(shown->name, task->comm, sizeof(shown->name));
	}
	rcu_read_unlock();
	if (slot < 0)
		return;
	shown->mode = PILLION_DUAL_PRIMARY;
	dual_account_live(shown, slot);
}

/* Shows one of a process's threads, if it has so many. Counts the number down. */
static bool show_thread(const struct dual_process *process, unsigned int *index,
			struct pillion_dual_thread *shown)
{
	const struct dual_thread *thread;

	list_for_each_entry(thread, &process->threads, link)
		if (!(*index)--) {
			show(process, thread, shown);
			return true;
		}
	return false;
}

/* Of the processes that have ended, a file shows those that it holds. */
static int show_number(const struct owner *owner, unsigned int index, struct pillion_dual_thread *shown)
{
	const struct dual_process *process;
	bool found = false;
	unsigned int i;

	spin_lock(&lock);
	list_for_each_entry(process, &processes, link) {
		found = show_thread(process, &index, shown);
		if (found)
			break;
	}
	for (i = 0; i < owner->count && !found; i++)
		if (!owner->processes[i]->lives)
			found = show_thread(owner->processes[i], &index, shown);
	spin_unlock(&lock);
	return found ? 0 : -ENOENT;
}

static int look(struct owner *owner, void __user *user)
{
	struct pillion_dual_look look;
	int error;

	if (copy_from_user(&look, user, sizeof(look)))
		return -EFAULT;
	if (!look.index)
		sweep();
	mutex_lock(&owner->lock);
	error = show_number(owner, look.index, &look.thread);
	mutex_unlock(&owner->lock);
	if (error)
		return error;
	return copy_to_user(user, &look, sizeof(look)) ? -EFAULT : 0;
}

/* A place of a process that this file holds: those of others are none of its business. */
static int copy_place(const struct owner *owner, unsigned int index, struct pillion_dual_place *place)
{
	struct dual_process *process;
	unsigned int i;
	int error = -ENOENT;

	for (i = 0; i < owner->count && error; i++) {
		process = owner->processes[i];
		mutex_lock(&process->report);
		if (index < process->place_count) {
			*place = *process->places[index];
			error = 0;
		} else {
			index -= process->place_count;
		}
		mutex_unlock(&process->report);
	}
	return error;
}

static int place(struct owner *owner, struct pillion_dual_look_place __user *user)
{
	struct pillion_dual_place *place;
	u32 index;
	int error;

	if (get_user(index, &user->index))
		return -EFAULT;
	place = kzalloc(sizeof(*place), GFP_KERNEL);
	if (!place)
		return -ENOMEM;
	mutex_lock(&owner->lock);
	error = copy_place(owner, index, place);
	mutex_unlock(&owner->lock);
	if (!error && copy_to_user(&user->place, place, sizeof(*place)))
		error = -EFAULT;
	kfree(place);
	return error;
}

/* Tells what kept threads of its processes from primary mode. */
static int obstacles(struct owner *owner, u32 __user *user)
{
	unsigned long all = 0;
	unsigned int i;

	mutex_lock(&owner->lock);
	for (i = 0; i < owner->count; i++)
		all |= READ_ONCE(owner->processes[i]->obstacles);
	mutex_unlock(&owner->lock);
	return put_user((u32)all, user);
}

static long call(unsigned int number, unsigned long argument)
{
	struct dual_process *process = dual_process_of_current();
	long result;

	if (!process)
		return -EPERM;
	result = dual_thread_call(process, number, argument);
	dual_process_put(process);
	return result;
}

static long dual_ioctl(struct file *file, unsigned int number, unsigned long argument)
{
	void __user *user = (void __user *)argument;

	if (number >= PILLION_IOC_DUAL_CALL(0) && number < PILLION_IOC_DUAL_CALL(PILLION_DUAL_SERVICE_END))
		return call(number - PILLION_IOC_DUAL_CALL(0), argument);
	switch (number) {
	case PILLION_IOC_DUAL_MARK:
		return mark(file->private_data, user);
	case PILLION_IOC_DUAL_UNMARK:
		return unmark();
	case PILLION_IOC_DUAL_LOOK:
		return look(file->private_data, user);
	case PILLION_IOC_DUAL_PLACE:
		return place(file->private_data, user);
	case PILLION_IOC_DUAL_OBSTACLES:
		return obstacles(file->private_data, user);
	default:
		return -ENOTTY;
	}
}

static int dual_file_open(struct inode *inode, struct file *file)
{
	struct owner *owner = kzalloc(sizeof(*owner), GFP_KERNEL_ACCOUNT);

	if (!owner)
		return -ENOMEM;
	mutex_init(&owner->lock);
	file->private_data = owner;
	return nonseekable_open(inode, file);
}

static int dual_release(struct inode *inode, struct file *file)
{
	struct owner *owner = file->private_data;

	while (owner->count)
		dual_process_put(owner->processes[--owner->count]);
	kfree(owner);
	sweep();
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = dual_file_open,
	.release = dual_release,
	.unlocked_ioctl = dual_ioctl,
};

/* The group that the system file lets use the device: the device rules of udev give it to them. */
static ssize_t group_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	const u8 *name = window.directory->dual_group;

	return sysfs_emit(text, "%.*s\n", (int)sizeof(window.directory->dual_group), name);
}

static DEVICE_ATTR_RO(group);

/* Whether the vDSO reads the clocks in primary mode as well. */
static ssize_t vdso_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%d\n", dual_clock_has_page());
}

static DEVICE_ATTR_RO(vdso);

static struct attribute *dual_attrs[] = { &dev_attr_group.attr, &dev_attr_vdso.attr, NULL };

ATTRIBUTE_GROUPS(dual);

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "pillion-dual",
	.mode = 0660,
	.groups = dual_groups,
	.fops = &operations,
};

/* Whether there is dual mode, and its device. */
static bool is_there;

static int open_parts(void)
{
	int error = dual_processors_open();

	if (error)
		return error;
	error = dual_thread_open();
	if (error)
		goto processors;
	error = dual_clock_open();
	if (error)
		goto thread;
	error = dual_futex_open();
	if (error)
		goto clock;
	error = dual_files_open();
	if (error)
		goto futex;
	error = dual_queues_open();
	if (error)
		goto files;
	dual_signal_open();
	error = dual_hook_open();
	if (error)
		goto signal;
	dual_urgency_open(dual_thread_has_vector());
	error = misc_register(&device);
	if (error)
		goto hook;
	return 0;
hook:
	dual_urgency_close();
	dual_hook_close();
signal:
	dual_signal_close();
	dual_queues_close();
files:
	dual_files_close();
futex:
	dual_futex_close();
clock:
	dual_clock_close();
thread:
	dual_thread_close();
processors:
	dual_processors_close();
	return error;
}

/* Whatever dual mode lacks, the rest of the module works without it: this never fails. */
int dual_open(void)
{
	const char *obstacle;
	int error;

	dual_task = window_find(PILLION_DUAL_TASK);
	if (!dual_task || window.dual_size < sizeof(struct pillion_dual))
		return 0;
	if (!boot_cpu_has(X86_FEATURE_OSXSAVE) || !boot_cpu_has(X86_FEATURE_TSC))
		obstacle = "the processor has no XSAVE or no time-stamp counter";
	else
		obstacle = dual_cannot_be();
	if (obstacle) {
		pr_warn("no primary mode: %s\n", obstacle);
		dual_task = NULL;
		return 0;
	}
	error = open_parts();
	is_there = !error;
	if (error) {
		pr_err("no dual mode: error %d; unload the module, and load it again\n", error);
		dual_task = NULL;
	}
	return 0;
}

/* Calls that continue in the module hold it, so there are none. */
void dual_close(void)
{
	struct dual_process *process, *next;

	if (!is_there)
		return;
	is_there = false;
	misc_deregister(&device);
	dual_urgency_close();
	dual_hook_close();
	dual_clock_close();
	dual_thread_close();
	dual_futex_close();
	dual_signal_close();
	dual_queues_close();
	dual_files_close();
	dual_processors_close();
	/* Without files and hooks, nobody else has references. */
	list_for_each_entry_safe(process, next, &processes, link)
		free_process(process);
}
