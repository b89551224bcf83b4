/* SPDX-License-Identifier: GPL-2.0-only */
/* Time of RTLinux's first interface, in ticks of the 8254 timer. */
#ifndef ASM_RT_TIME_H
#define ASM_RT_TIME_H

#include <rtl_time.h>

typedef long long RTIME;
#define RT_TICKS_PER_SEC 1193180
#define RT_TIME_END ((RTIME)0x7fffffffffffffffLL)

#endif
