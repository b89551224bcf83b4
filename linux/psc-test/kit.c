// SPDX-License-Identifier: GPL-2.0-only
/* What the tests of real-time signals have in common. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

volatile unsigned int count;

void fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s, line %d: %s\n", file, line, what);
	exit(1);
}

void nap(long milliseconds)
{
	usleep(milliseconds * 1000);
}

void handle(int sig, void (*handler)(int), hrtime_t period, int flags)
{
	struct rtlinux_sigaction action = { .sa_handler = handler, .sa_flags = flags, .sa_period = period };

	check(!rtlinux_sigaction(sig, &action, NULL), "rtlinux_sigaction");
}

struct rtlinux_sigstate state_of(int sig)
{
	struct rtlinux_sigstate state;

	check(!rtlinux_sigstate(sig, &state), "rtlinux_sigstate");
	return state;
}

void increments(int sig)
{
	(void)sig;
	count++;
}

struct rtlinux_sigstate ends(void (*handler)(int), int fault, const char *what)
{
	struct rtlinux_sigstate state;

	handle(RTLINUX_SIGTIMER(4), handler, MILLISECOND, RTLINUX_SA_PERIODIC);
	nap(200);
	state = state_of(RTLINUX_SIGTIMER(4));
	check(!state.is_active && state.fault == fault, what);
	handle(RTLINUX_SIGTIMER(4), NULL, 0, 0);
	return state;
}
