// SPDX-License-Identifier: GPL-2.0-only
/* Times. */
#include <alchemy/timer.h>
#include <xenomai/tunables.h>

#include "object.h"

static int64_t resolution(void)
{
	return __xenomai_settings.alchemy_clock_resolution;
}

int64_t alchemy_ns(SRTIME ticks)
{
	return primary_times(ticks, resolution());
}

RTIME rt_timer_read(void)
{
	return primary_now(CLOCK_COPPERPLATE) / resolution();
}

SRTIME rt_timer_ns2ticks(SRTIME ns)
{
	return ns / resolution();
}

SRTIME rt_timer_ticks2ns(SRTIME ticks)
{
	return alchemy_ns(ticks);
}

int rt_timer_inquire(RT_TIMER_INFO *info)
{
	info->period = resolution();
	info->date = rt_timer_read();
	return 0;
}

void rt_timer_spin(RTIME ns)
{
	int64_t end = primary_later(CLOCK_MONOTONIC, ns);

	while (primary_now(CLOCK_MONOTONIC) < end)
		__builtin_ia32_pause();
}

/* Ticks of the counter are given as nanoseconds: a program converts them anyway. */
RTIME rt_timer_tsc(void)
{
	return primary_now(CLOCK_MONOTONIC_RAW);
}

SRTIME rt_timer_ns2tsc(SRTIME ns)
{
	return ns;
}

SRTIME rt_timer_tsc2ns(SRTIME ticks)
{
	return ticks;
}

struct primary_end alchemy_after(RTIME timeout)
{
	if (timeout == TM_INFINITE)
		return PRIMARY_FOREVER;
	if (timeout == TM_NONBLOCK)
		return PRIMARY_TRY;
	return PRIMARY_UNTIL(CLOCK_COPPERPLATE, primary_later(CLOCK_COPPERPLATE, alchemy_ns(timeout)));
}

struct primary_end alchemy_until(RTIME end)
{
	if (end == TM_INFINITE)
		return PRIMARY_FOREVER;
	if (end == TM_NONBLOCK)
		return PRIMARY_TRY;
	return PRIMARY_UNTIL(CLOCK_COPPERPLATE, alchemy_ns(end));
}

struct primary_end alchemy_at(const struct timespec *end)
{
	int64_t ns = end ? primary_ns(end) : 0;

	if (!end)
		return PRIMARY_FOREVER;
	return ns > 0 ? PRIMARY_UNTIL(CLOCK_COPPERPLATE, ns) : PRIMARY_TRY;
}
