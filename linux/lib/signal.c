// SPDX-License-Identifier: GPL-2.0-only
/* Real-time signals in a Linux process: sets of them, and the blocked ones. */
#include "psc.h"
#include <errno.h>
#include <rtlinux_signal.h>
#include <string.h>

static int refuse(int error)
{
	errno = error;
	return -1;
}

/* Runs the handlers of signals that are pending and no longer blocked. */
static int deliver(void)
{
	unsigned long due;
	int sig, result = 0;

	for (sig = 0; sig <= RTLINUX_SIGMAX; sig++) {
		due = psc_pending.bits[sig / 64] & ~rtlinux_blocked.bits[sig / 64];
		if (!(due >> sig % 64 & 1))
			continue;
		psc_forget(sig);
		if (psc_run_once(sig))
			result = -1;
	}
	return result;
}

int rtlinux_sigprocmask(int how, const rtlinux_sigset_t *set, rtlinux_sigset_t *old)
{
	size_t i;

	if (how != RTLINUX_SIG_BLOCK && how != RTLINUX_SIG_UNBLOCK && how != RTLINUX_SIG_SETMASK)
		return refuse(EINVAL);
	if (old)
		*old = rtlinux_blocked;
	for (i = 0; set && i < sizeof(set->bits) / sizeof(set->bits[0]); i++) {
		if (how == RTLINUX_SIG_SETMASK)
			rtlinux_blocked.bits[i] = set->bits[i];
		else if (how == RTLINUX_SIG_BLOCK)
			rtlinux_blocked.bits[i] |= set->bits[i];
		else
			rtlinux_blocked.bits[i] &= ~set->bits[i];
	}
	return deliver();
}

int rtlinux_sigemptyset(rtlinux_sigset_t *set)
{
	memset(set, 0, sizeof(*set));
	return 0;
}

int rtlinux_sigfillset(rtlinux_sigset_t *set)
{
	memset(set, 0xff, sizeof(*set));
	return 0;
}

int rtlinux_sigaddset(rtlinux_sigset_t *set, int sig)
{
	if (sig < 0 || sig > RTLINUX_SIGMAX)
		return refuse(EINVAL);
	set->bits[sig / 64] |= 1ul << sig % 64;
	return 0;
}

int rtlinux_sigdelset(rtlinux_sigset_t *set, int sig)
{
	if (sig < 0 || sig > RTLINUX_SIGMAX)
		return refuse(EINVAL);
	set->bits[sig / 64] &= ~(1ul << sig % 64);
	return 0;
}

int rtlinux_sigismember(const rtlinux_sigset_t *set, int sig)
{
	if (sig < 0 || sig > RTLINUX_SIGMAX)
		return refuse(EINVAL);
	return set->bits[sig / 64] >> sig % 64 & 1;
}
