/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals: SIGDEBUG says why a thread went to Linux. */
#include_next <signal.h>

#ifndef _COBALT_SIGNAL_H
#define _COBALT_SIGNAL_H

#define SIGDEBUG SIGXCPU

#define SIGDEBUG_UNDEFINED 0
#define SIGDEBUG_MIGRATE_SIGNAL 1
#define SIGDEBUG_MIGRATE_SYSCALL 2
#define SIGDEBUG_MIGRATE_FAULT 3
#define SIGDEBUG_MIGRATE_PRIOINV 4
#define SIGDEBUG_NOMLOCK 5
#define SIGDEBUG_WATCHDOG 6
#define SIGDEBUG_RESCNT_IMBALANCE 7
#define SIGDEBUG_LOCK_BREAK 8
#define SIGDEBUG_MUTEX_SLEEP 9

#define sigdebug_code(info) ((info)->si_value.sival_int)
#define sigdebug_reason(info) (sigdebug_code(info) & 0xff)
#define sigdebug_marker 0xfccf0000
#define sigdebug_marked(info) ((sigdebug_code(info) & 0xffff0000) == sigdebug_marker)

#endif
