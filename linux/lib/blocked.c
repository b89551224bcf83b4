// SPDX-License-Identifier: GPL-2.0-only
/* The signals of a Linux process that are blocked, and those of them that arrived. */
#include "psc.h"

rtlinux_sigset_t rtlinux_blocked, psc_pending;

bool psc_hold(int sig)
{
	unsigned long bit = 1ul << sig % 64;

	if (!(rtlinux_blocked.bits[sig / 64] & bit))
		return false;
	__atomic_fetch_or(&psc_pending.bits[sig / 64], bit, __ATOMIC_SEQ_CST);
	return true;
}

void psc_forget(int sig)
{
	__atomic_fetch_and(&psc_pending.bits[sig / 64], ~(1ul << sig % 64), __ATOMIC_SEQ_CST);
}
