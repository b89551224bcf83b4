// SPDX-License-Identifier: GPL-2.0-only
/* Threads: how they become EVL's, and their modes. */
#include "threads.h"

#include <errno.h>
#include <evl/evl.h>
#include <pillion_dual.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "primary/call.h"
#include "primary/lock.h"

/* Takes a thread to Linux, which ends none that does not know it. */
#define KICK SIGWINCH

__thread struct evl_thread *evl_current;

static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Threads that want to be told of switches: the process is, as long as there are some. */
static int warned;

static void ends(struct evl_object *object)
{
	struct evl_thread *thread = holder_of(object, struct evl_thread, object);

	evl_observed_end(&thread->observed);
	free(thread);
}

static unsigned int events(struct evl_object *object)
{
	return evl_observed_events(&holder_of(object, struct evl_thread, object)->observed);
}

const struct evl_kind evl_threads = { .events = events, .ends = ends };

/* Counts who wants to be told of switches. Returns whether there are others now. */
static bool count_warned(int before, int after)
{
	int change = !!(after & EVL_T_WOSS) - !!(before & EVL_T_WOSS);

	return change && __atomic_add_fetch(&warned, change, __ATOMIC_SEQ_CST) == (change > 0);
}

/* Linux is told of the first that wants it, and of the last. */
static int set_warned(void)
{
	return primary_is_there() ? -primary_warn(__atomic_load_n(&warned, __ATOMIC_SEQ_CST)) : 0;
}

static void detach(struct evl_thread *self)
{
	if (count_warned(self->modes, 0))
		set_warned();
	primary_lock();
	evl_observe_no_more(&self->subscriptions);
	self->thread = NULL;
	evl_current = NULL;
	primary_unname(&self->object.name);
	evl_put(&self->object);
	primary_unlock();
}

static void thread_ends(void *self)
{
	detach(self);
}

static void does_nothing(int signal)
{
	(void)signal;
}

static void begin(void)
{
	struct sigaction action = { .sa_handler = does_nothing, .sa_flags = SA_RESTART }, old;

	pthread_key_create(&at_end, thread_ends);
	if (!sigaction(KICK, NULL, &old) && old.sa_handler == SIG_DFL)
		sigaction(KICK, &action, NULL);
}

void evl_kick(pid_t tid)
{
	syscall(SYS_tgkill, getpid(), tid, KICK);
}

/* What Linux knows of the calling thread now, it may have got since the skins first saw it. */
static void look_at_policy(struct primary_thread *self)
{
	int policy = syscall(SYS_sched_getscheduler, 0) & ~SCHED_RESET_ON_FORK;
	struct sched_param parameters = { 0 };

	syscall(SYS_sched_getparam, 0, &parameters);
	primary_lock();
	primary_set_priority(self, policy, parameters.sched_priority);
	primary_unlock();
}

int evl_attach_thread(int flags, const char *format, ...)
{
	struct evl_thread *self;
	va_list arguments;
	int efd;

	if (evl_current)
		return -EBUSY;
	if (flags & ~EVL_CLONE_MASK)
		return -EINVAL;
	evl_init();
	pthread_once(&once, begin);
	self = calloc(1, sizeof(*self));
	if (!self)
		return -ENOMEM;
	self->thread = primary_self();
	self->tid = primary_tid();
	self->modes = EVL_T_HMSIG;
	self->is_observable = flags & EVL_CLONE_OBSERVABLE;
	link_init(&self->subscriptions);
	evl_observed_init(&self->observed, flags & EVL_CLONE_UNICAST);
	look_at_policy(self->thread);
	va_start(arguments, format);
	efd = evl_publish(&self->object, &evl_threads, flags, -1, format, arguments);
	va_end(arguments);
	if (efd < 0) {
		free(self);
		return efd;
	}
	self->efd = efd;
	/* As long as it is attached. */
	self->object.references++;
	if (format)
		snprintf(self->thread->name, PRIMARY_NAME, "%.*s", PRIMARY_NAME - 1, self->object.name.text);
	pthread_setspecific(at_end, self);
	evl_current = self;
	if (evl_is_urgent(self->thread->policy))
		primary_enter();
	return efd;
}

int evl_detach_thread(int flags)
{
	if (flags)
		return -EINVAL;
	if (!evl_current)
		return -EPERM;
	pthread_setspecific(at_end, NULL);
	detach(evl_current);
	/* Its mutexes go to those that wait for them, as those of a thread that ends do. */
	if (primary_is_there())
		PRIMARY_CALL(THREAD_ENDS, 0, 0, 0, 0);
	primary_leave();
	return 0;
}

int evl_get_self(void)
{
	return evl_current ? evl_current->efd : -EPERM;
}

int evl_switch_oob(void)
{
	if (!evl_current)
		return -EPERM;
	return primary_is_there() ? primary_enter() : 0;
}

int evl_switch_inband(void)
{
	if (!evl_current)
		return -EPERM;
	primary_leave();
	return 0;
}

bool evl_is_inband(void)
{
	return !primary_is_now();
}

/* What the real-time side counted. */
static void tell_counts(pid_t tid, struct evl_thread_state *state)
{
	struct pillion_dual_thread seen = { 0 };
	unsigned int reason;

	if (!primary_is_there() || primary_look(tid, &seen) || seen.mode != PILLION_DUAL_PRIMARY)
		state->state |= EVL_T_INBAND;
	for (reason = 0; reason < PILLION_DUAL_LEFT_REASONS; reason++)
		state->isw += seen.left[reason];
	state->csw = seen.waits;
	state->sc = seen.answered;
	state->xtime = seen.primary_ns;
}

int evl_get_state(int efd, struct evl_thread_state *state)
{
	struct evl_thread *thread = evl_enter_file(efd, &evl_threads);
	bool is_attached;
	pid_t tid;

	if (!thread)
		return -EBADF;
	memset(state, 0, sizeof(*state));
	is_attached = thread->thread;
	tid = thread->tid;
	if (is_attached) {
		state->eattrs.sched_policy = thread->thread->policy == SCHED_OTHER ? SCHED_WEAK : thread->thread->policy;
		state->eattrs.sched_priority = thread->thread->priority;
		state->state = EVL_T_USER | thread->modes | (thread->thread->wait ? EVL_T_PEND : EVL_T_READY);
		state->state |= evl_is_urgent(thread->thread->policy) ? 0 : EVL_T_WEAK;
		state->state |= thread->is_observable ? EVL_T_OBSERV : 0;
	}
	evl_leave(thread, 0);
	if (is_attached)
		tell_counts(tid, state);
	return is_attached ? 0 : -ESRCH;
}

int evl_unblock_thread(int efd)
{
	struct evl_thread *thread = evl_enter_file(efd, &evl_threads);

	if (!thread)
		return -EBADF;
	if (!thread->thread)
		return evl_leave(thread, -ESRCH);
	primary_unblock(thread->thread);
	return evl_leave(thread, 0);
}

static int change_modes(int efd, int set, int clear, int *old)
{
	const int known = EVL_T_WOSS | EVL_T_WOLI | EVL_T_WOSX | EVL_T_WOSO | EVL_T_HMSIG | EVL_T_HMOBS;
	struct evl_thread *thread;
	bool changed = false;
	int error = -ESRCH;

	if ((set | clear) & ~known)
		return -EINVAL;
	thread = evl_enter_file(efd, &evl_threads);
	if (!thread)
		return -EBADF;
	if (thread->thread) {
		int before = thread->modes;

		thread->modes = (before | set) & ~clear;
		changed = count_warned(before, thread->modes);
		if (old)
			*old = before;
		error = 0;
	}
	evl_leave(thread, 0);
	return changed ? set_warned() : error;
}

int evl_set_thread_mode(int efd, int mask, int *old)
{
	return change_modes(efd, mask, 0, old);
}

int evl_clear_thread_mode(int efd, int mask, int *old)
{
	return change_modes(efd, 0, mask, old);
}
