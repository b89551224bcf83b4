// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals. Those to a real-time thread of this process wait in memory until the thread takes them;
 * they call no handlers, as in Cobalt. All others are Linux's. Pseudo signals act at once.
 */
#include "pending.h"

#include <pthread.h>
#include <string.h>
#include <sys/cobalt.h>
#include <unistd.h>

#include "internal.h"
#include "primary/lock.h"
#include "primary/wait.h"
#include "thread.h"

/* Signals that wait at the same time. */
#define MOST 256

struct pending {
	struct link link;
	/* The thread, and its number: another one can be at the same place later. */
	const struct primary_thread *thread;
	pid_t tid;
	siginfo_t info;
};

static struct pending entries[MOST];
static struct link pending = LINK_INIT(pending), unused = LINK_INIT(unused);
/* Threads that wait for a signal. */
static struct primary_queue waiters = PRIMARY_QUEUE_INIT(waiters, true);

bool cobalt_takes_signals(const struct primary_thread *thread)
{
	return thread && cobalt_is_urgent(thread->policy);
}

/*
 * The process's user, as signals tell it: getuid() would lead to Linux. It is this library's to
 * know when that changes.
 */
static uid_t user;

__attribute__((constructor(102))) static void look_at_user(void)
{
	user = getuid();
}

static int changed_user(int result)
{
	look_at_user();
	return result;
}

WRAP(int, setuid, uid_t uid)
{
	return changed_user(__real_setuid(uid));
}

WRAP(int, setreuid, uid_t real, uid_t effective)
{
	return changed_user(__real_setreuid(real, effective));
}

WRAP(int, setresuid, uid_t real, uid_t effective, uid_t saved)
{
	return changed_user(__real_setresuid(real, effective, saved));
}

siginfo_t cobalt_signal(int signal, int code)
{
	return (siginfo_t){ .si_signo = signal, .si_code = code, .si_pid = getpid(), .si_uid = user };
}

static struct pending *entry_of(struct link *link)
{
	return holder_of(link, struct pending, link);
}

static bool is_for(const struct pending *entry, const struct primary_thread *thread)
{
	return entry->thread == thread && entry->tid == thread->tid;
}

/* A free entry; those of threads that have ended are free. */
static struct pending *make(void)
{
	static bool is_prepared;
	unsigned int i;

	if (!is_prepared) {
		for (i = 0; i < MOST; i++)
			link_before(&entries[i].link, &unused);
		is_prepared = true;
	}
	if (link_alone(&unused))
		for each_link(link, &pending)
			if (primary_find_tid(entry_of(link)->tid) != entry_of(link)->thread) {
				link_remove(link);
				return entry_of(link);
			}
	if (link_alone(&unused))
		return NULL;
	return entry_of(unused.next);
}

static struct pending *find(const struct primary_thread *thread, int signal)
{
	for each_link(link, &pending)
		if (is_for(entry_of(link), thread) && entry_of(link)->info.si_signo == signal)
			return entry_of(link);
	return NULL;
}

siginfo_t *cobalt_signal_of_timer(const struct primary_thread *thread, int timer)
{
	for each_link(link, &pending) {
		struct pending *entry = entry_of(link);

		if (is_for(entry, thread) && entry->info.si_code == SI_TIMER && entry->info.si_timerid == timer)
			return &entry->info;
	}
	return NULL;
}

struct wish {
	const sigset_t *set;
	siginfo_t *info;
};

int cobalt_signal_send(struct primary_thread *thread, const siginfo_t *info)
{
	struct primary_wait *wait = thread->wait;
	struct pending *entry;

	if (wait && wait->queue == &waiters && !wait->has_ended) {
		struct wish *wish = wait->data;

		if (sigismember(wish->set, info->si_signo)) {
			*wish->info = *info;
			primary_wake(wait, 0);
			return 0;
		}
	}
	if (info->si_signo < SIGRTMIN && find(thread, info->si_signo))
		return 0;
	entry = make();
	if (!entry)
		return -EAGAIN;
	link_remove(&entry->link);
	entry->thread = thread;
	entry->tid = thread->tid;
	entry->info = *info;
	link_before(&entry->link, &pending);
	return 0;
}

/* Takes the lowest of the signals of a set, of which the first that was sent. */
static bool take(const struct primary_thread *thread, const sigset_t *set, siginfo_t *info)
{
	struct pending *first = NULL;

	for each_link(link, &pending) {
		struct pending *entry = entry_of(link);

		if (is_for(entry, thread) && sigismember(set, entry->info.si_signo) &&
		    (!first || entry->info.si_signo < first->info.si_signo))
			first = entry;
	}
	if (!first)
		return false;
	*info = first->info;
	link_remove(&first->link);
	link_before(&first->link, &unused);
	return true;
}

static int wait_for(const sigset_t *set, siginfo_t *info, struct primary_end end)
{
	struct primary_thread *self = primary_self();
	struct wish wish = { set, info };
	struct primary_wait wait = { .data = &wish };
	int result = 0;

	primary_lock();
	if (!take(self, set, info))
		result = primary_wait(&waiters, &wait, end);
	primary_unlock();
	if (result == -ETIMEDOUT || result == -EWOULDBLOCK)
		result = -EAGAIN;
	return result;
}

WRAP(int, sigwaitinfo, const sigset_t *set, siginfo_t *info)
{
	siginfo_t own;
	int result;

	if (!cobalt_takes_signals(primary_self()))
		return __real_sigwaitinfo(set, info);
	result = wait_for(set, &own, PRIMARY_FOREVER);
	if (!result && info)
		*info = own;
	return cobalt_told(result ? result : own.si_signo);
}

WRAP(int, sigwait, const sigset_t *set, int *signal)
{
	siginfo_t own;
	int result;

	if (!cobalt_takes_signals(primary_self()))
		return __real_sigwait(set, signal);
	do
		result = wait_for(set, &own, PRIMARY_FOREVER);
	while (result == -EINTR);
	if (!result)
		*signal = own.si_signo;
	return -result;
}

WRAP(int, sigtimedwait, const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	struct primary_end end = PRIMARY_FOREVER;
	siginfo_t own;
	int result;

	if (!cobalt_takes_signals(primary_self()))
		return __real_sigtimedwait(set, info, timeout);
	if (timeout && primary_ns(timeout) < 0)
		return cobalt_told(-EINVAL);
	if (timeout)
		end = PRIMARY_UNTIL(CLOCK_MONOTONIC, primary_later(CLOCK_MONOTONIC, primary_ns(timeout)));
	if (timeout && !primary_ns(timeout))
		end = PRIMARY_TRY;
	result = wait_for(set, &own, end);
	if (!result && info)
		*info = own;
	return cobalt_told(result ? result : own.si_signo);
}

WRAP(int, sigpending, sigset_t *set)
{
	struct primary_thread *self = primary_self();
	int result = __real_sigpending(set);

	primary_lock();
	for each_link(link, &pending)
		if (is_for(entry_of(link), self))
			sigaddset(set, entry_of(link)->info.si_signo);
	primary_unlock();
	return result;
}

/* Pseudo signals, which need no rights beyond those of the process. Returns whether it is one. */
static bool act(struct primary_thread *thread, int signal)
{
	if (signal == SIGSUSP)
		primary_suspend(thread);
	else if (signal == SIGRESM)
		primary_resume(thread);
	else if (signal == SIGRELS || signal == SIGKICK)
		primary_unblock(thread);
	else if (signal != SIGDEMT)
		return false;
	return true;
}

/* A thread that is to be an ordinary one. */
static int demote(struct primary_thread *thread, pthread_t pthread)
{
	static const struct sched_param none;

	primary_unblock(thread);
	primary_unlock();
	return pthread_setschedparam(pthread, SCHED_OTHER, &none);
}

WRAP(int, pthread_kill, pthread_t pthread, int signal)
{
	siginfo_t info = cobalt_signal(signal, SI_TKILL);
	struct primary_thread *thread;
	bool is_native = false;
	int result = 0;

	primary_lock();
	thread = primary_find(pthread);
	if (thread && signal == SIGDEMT)
		return demote(thread, pthread);
	if (!thread || signal <= 0 || (!act(thread, signal) && !cobalt_takes_signals(thread)))
		is_native = true;
	else if (signal <= SIGRTMAX)
		result = cobalt_signal_send(thread, &info);
	else if (signal > SIGDEMT)
		result = -EINVAL;
	primary_unlock();
	return is_native ? __real_pthread_kill(pthread, signal) : -result;
}

/* Sends to a thread of this process that takes signals here. Returns whether there is one. */
static bool send_to(pid_t pid, const siginfo_t *info, int *result)
{
	struct primary_thread *thread;
	bool takes;

	primary_lock();
	thread = primary_find_tid(pid);
	takes = cobalt_takes_signals(thread) && info->si_signo > 0 && info->si_signo <= SIGRTMAX;
	if (takes)
		*result = cobalt_signal_send(thread, info);
	primary_unlock();
	return takes;
}

WRAP(int, kill, pid_t pid, int signal)
{
	siginfo_t info = cobalt_signal(signal, SI_USER);
	int result;

	return send_to(pid, &info, &result) ? cobalt_told(result) : __real_kill(pid, signal);
}

WRAP(int, sigqueue, pid_t pid, int signal, const union sigval value)
{
	siginfo_t info = cobalt_signal(signal, SI_QUEUE);
	int result;

	info.si_value = value;
	return send_to(pid, &info, &result) ? cobalt_told(result) : __real_sigqueue(pid, signal, value);
}
