/* SPDX-License-Identifier: GPL-2.0-only */
/* Alarms for which a task waits, as version 2 had them. */
#ifndef _XENOMAI_TRANK_NATIVE_ALARM_H
#define _XENOMAI_TRANK_NATIVE_ALARM_H

#include <alchemy/alarm.h>
#include <trank/native/types.h>

#ifdef __cplusplus
extern "C" {
#endif

int trank_alarm_create(RT_ALARM *alarm, const char *name);
int rt_alarm_wait(RT_ALARM *alarm);

#ifdef __cplusplus
}
#endif

#define rt_alarm_create(alarm, name) trank_alarm_create(alarm, name)

#endif
