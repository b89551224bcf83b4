// SPDX-License-Identifier: GPL-2.0-only
/* What threads are told of by SIGDEBUG, and why. */
#include <errno.h>
#include <pillion_dual.h>
#include <signal.h>
#include <stdio.h>

#include "primary/call.h"
#include "primary/lock.h"
#include "threads.h"

#define MARK_BITS 0xffff0000
/* The cause is one that this library has found. */
#define OWN 0x100

bool evl_is_sigdebug(const siginfo_t *info)
{
	return ((unsigned int)info->si_value.sival_int & MARK_BITS) == PILLION_DUAL_DEBUG_MARK;
}

int evl_sigdebug_cause(const siginfo_t *info)
{
	static const unsigned char causes[] = {
		[PILLION_DUAL_DEBUG_SIGNAL] = EVL_HMDIAG_SIGDEMOTE,
		[PILLION_DUAL_DEBUG_CALL] = EVL_HMDIAG_SYSDEMOTE,
		[PILLION_DUAL_DEBUG_FAULT] = EVL_HMDIAG_EXDEMOTE,
		[PILLION_DUAL_DEBUG_INVERSION] = EVL_HMDIAG_LKDEPEND,
		[PILLION_DUAL_DEBUG_MEMORY] = EVL_HMDIAG_MEMORY,
		[PILLION_DUAL_DEBUG_WATCHDOG] = EVL_HMDIAG_WATCHDOG,
	};
	unsigned int reason = (unsigned int)info->si_value.sival_int & ~MARK_BITS;

	if (reason & OWN)
		return reason & ~OWN;
	return reason < sizeof(causes) ? causes[reason] : 0;
}

static const char *about(int cause)
{
	switch (cause) {
	case EVL_HMDIAG_SIGDEMOTE:
		return "a signal took the thread to Linux";
	case EVL_HMDIAG_SYSDEMOTE:
		return "a system call took the thread to Linux";
	case EVL_HMDIAG_EXDEMOTE:
		return "a fault took the thread to Linux";
	case EVL_HMDIAG_WATCHDOG:
		return "the thread computed for too long without waiting";
	case EVL_HMDIAG_LKDEPEND:
		return "the thread waits for a mutex whose owner is in Linux";
	case EVL_HMDIAG_LKIMBALANCE:
		return "a mutex was unlocked that is not the thread's";
	case EVL_HMDIAG_LKSLEEP:
		return "the thread sleeps while it owns a mutex";
	case EVL_HMDIAG_MEMORY:
		return "the memory cannot be pinned";
	default:
		return "unknown cause";
	}
}

void evl_sigdebug_handler(int signal, siginfo_t *info, void *context)
{
	int before = errno;

	(void)signal;
	(void)context;
	if (evl_is_sigdebug(info))
		dprintf(STDERR_FILENO, "thread %u: %s\n", primary_tid(), about(evl_sigdebug_cause(info)));
	errno = before;
}

void evl_tell(int mode, int cause)
{
	struct evl_thread *self = evl_current;

	if (!self || !(self->modes & mode))
		return;
	if (self->modes & EVL_T_HMOBS && self->is_observable) {
		primary_lock();
		evl_notify(&self->object, &self->observed, cause, evl_nil);
		primary_unlock();
	}
	if (self->modes & EVL_T_HMSIG)
		primary_debug(OWN | cause);
}
