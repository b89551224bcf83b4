/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_NATIVE_TIMER_H
#define _XENOMAI_TRANK_NATIVE_TIMER_H

#include <alchemy/timer.h>
#include <errno.h>
#include <trank/native/types.h>

/* The timer has no other mode. */
static inline int rt_timer_set_mode(RTIME tick)
{
	return tick == TM_ONESHOT ? 0 : -ENODEV;
}

#endif
