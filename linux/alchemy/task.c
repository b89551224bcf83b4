// SPDX-License-Identifier: GPL-2.0-only
/* How tasks begin and end. */
#include "tasks.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/cobalt.h>
#include <sys/prctl.h>

#include "primary/call.h"
#include "primary/lock.h"
#include "primary/print.h"

/* The stack of a task that names no size, and of one that names a smaller one. */
#define STACK (128 << 10)
#define KNOWN_MODES (T_LOCK | T_WARNSW | T_CONFORMING | T_JOINABLE | T_SUSP)

const struct alchemy_kind alchemy_tasks = { "task" };

static __thread struct task *self;
static pthread_key_t at_end;

struct task *alchemy_self(void)
{
	return self;
}

RT_TASK *rt_task_self(void)
{
	return self ? &self->self : NULL;
}

struct task *alchemy_task(RT_TASK *task)
{
	if (task)
		return alchemy_enter(&alchemy_tasks, task->handle);
	if (self)
		primary_lock();
	return self;
}

/* The task's memory stays while others may still wait for its end. */
static void end(void *ended)
{
	struct task *task = ended;

	primary_lock();
	task->thread = NULL;
	alchemy_remove(&task->object);
	primary_wake_all(&task->senders, -EIDRM);
	primary_wake_all(&task->callers, -EIDRM);
	primary_wake_all(&task->ends, 0);
	primary_unlock();
	self = NULL;
	free(task);
}

static void begin(void)
{
	pthread_key_create(&at_end, end);
}

static struct task *make(int priority, int mode)
{
	struct task *task = calloc(1, sizeof(*task));

	if (!task)
		return NULL;
	/* A thread in primary mode cannot make the one that prints for it. */
	primary_print_begin();
	task->priority = priority;
	task->mode = mode;
	primary_queue_init(&task->starts, false);
	primary_queue_init(&task->ends, true);
	primary_queue_init(&task->senders, true);
	primary_queue_init(&task->receiver, false);
	primary_queue_init(&task->callers, false);
	return task;
}

/* The calling thread is a task from now on. */
static void become(struct task *task)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct primary_thread *thread = primary_self();

	pthread_once(&once, begin);
	pthread_setspecific(at_end, task);
	prctl(PR_SET_NAME, task->object.name.text);
	primary_lock();
	alchemy_tell_name(&task->object, thread->name);
	task->thread = thread;
	task->pthread = task->self.thread = pthread_self();
	task->self.handle = task->object.handle;
	primary_unlock();
	self = task;
}

static void *run(void *made)
{
	struct task *task = made;
	struct primary_wait wait = { 0 };

	become(task);
	primary_lock();
	/* The creator waits until the task is known. */
	primary_wake_all(&task->callers, 0);
	while (!task->is_started)
		primary_wait(&task->starts, &wait, PRIMARY_FOREVER);
	if (task->mode & T_SUSP)
		primary_suspend(task->thread);
	primary_unlock();
	if (task->priority)
		primary_enter();
	rt_task_set_mode(0, task->mode & (T_LOCK | T_WARNSW), NULL);
	task->entry(task->argument);
	return NULL;
}

static int make_thread(struct task *task, int stack)
{
	struct sched_param parameters = { .sched_priority = task->priority };
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, task->priority ? SCHED_FIFO : SCHED_OTHER);
	pthread_attr_setschedparam(&attributes, &parameters);
	pthread_attr_setstacksize(&attributes, stack > STACK ? stack : STACK);
	if (!(task->mode & T_JOINABLE))
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&task->pthread, &attributes, run, task);
	pthread_attr_destroy(&attributes);
	return -error;
}

int rt_task_create(RT_TASK *task, const char *name, int stack, int priority, int mode)
{
	RT_TASK unused, *told = task ? task : &unused;
	struct primary_wait wait = { 0 };
	struct task *made;
	int error;

	if (priority < T_LOPRIO || priority > T_HIPRIO || mode & ~KNOWN_MODES)
		return -EINVAL;
	made = make(priority, mode);
	if (!made)
		return -ENOMEM;
	error = alchemy_add(&made->object, &alchemy_tasks, name, &told->handle);
	if (error) {
		free(made);
		return error;
	}
	error = make_thread(made, stack);
	primary_lock();
	if (error) {
		alchemy_remove(&made->object);
		free(made);
		return alchemy_leave(error);
	}
	while (!made->thread)
		primary_wait(&made->callers, &wait, PRIMARY_FOREVER);
	told->thread = made->pthread;
	return alchemy_leave(0);
}

int rt_task_start(RT_TASK *task, void (*entry)(void *argument), void *argument)
{
	struct task *found = alchemy_task(task);

	if (!found)
		return -EINVAL;
	if (found->is_started)
		return alchemy_leave(-EBUSY);
	found->entry = entry;
	found->argument = argument;
	found->is_started = true;
	primary_wake_all(&found->starts, 0);
	return alchemy_leave(0);
}

int rt_task_spawn(RT_TASK *task, const char *name, int stack, int priority, int mode, void (*entry)(void *argument),
		  void *argument)
{
	RT_TASK unused, *told = task ? task : &unused;
	int error = rt_task_create(told, name, stack, priority, mode);

	return error ? error : rt_task_start(told, entry, argument);
}

int rt_task_shadow(RT_TASK *task, const char *name, int priority, int mode)
{
	RT_TASK unused, *told = task ? task : &unused;
	struct task *made;
	int error;

	if (priority < T_LOPRIO || priority > T_HIPRIO || mode & ~(T_LOCK | T_WARNSW | T_CONFORMING))
		return -EINVAL;
	if (self)
		return -EBUSY;
	made = make(priority, mode);
	if (!made)
		return -ENOMEM;
	made->is_started = made->is_shadow = true;
	error = alchemy_add(&made->object, &alchemy_tasks, name, &told->handle);
	if (error) {
		free(made);
		return error;
	}
	become(made);
	told->thread = pthread_self();
	error = rt_task_set_priority(NULL, priority);
	if (!error)
		rt_task_set_mode(0, mode, NULL);
	return error;
}

/* Another task ends where it next waits. */
int rt_task_delete(RT_TASK *task)
{
	struct task *found = alchemy_task(task);
	struct primary_wait wait = { 0 };
	int error = 0;

	if (!found)
		return task ? -EINVAL : -EPERM;
	if (found == self) {
		primary_unlock();
		pthread_exit(NULL);
	}
	if (found->is_shadow)
		return alchemy_leave(-EPERM);
	/* One that is suspended waits, too, so it ends there. */
	pthread_cancel(found->pthread);
	error = primary_wait(&found->ends, &wait, PRIMARY_FOREVER);
	return alchemy_leave(error);
}

int rt_task_join(RT_TASK *task)
{
	struct task *found = alchemy_task(task);
	pthread_t pthread = task->thread;
	int error;

	if (found) {
		error = found == self ? -EDEADLK : found->mode & T_JOINABLE ? 0 : -EINVAL;
		primary_unlock();
		if (error)
			return error;
	}
	/* It may have ended already. */
	error = pthread_join(pthread, NULL);
	return -error;
}

int rt_task_bind(RT_TASK *task, const char *name, RTIME timeout)
{
	int error = alchemy_bind(&alchemy_tasks, name, timeout, &task->handle);
	struct task *found = error ? NULL : alchemy_task(task);

	if (!found)
		return error ? error : -EINVAL;
	task->thread = found->pthread;
	return alchemy_leave(0);
}

int rt_task_unbind(RT_TASK *task)
{
	memset(task, 0, sizeof(*task));
	return 0;
}

int rt_task_same(RT_TASK *one, RT_TASK *other)
{
	return one->handle == other->handle;
}
