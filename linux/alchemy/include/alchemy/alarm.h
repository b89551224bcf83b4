/* SPDX-License-Identifier: GPL-2.0-only */
/* Alarms: functions that a thread calls which is more urgent than all tasks. */
#ifndef _ALCHEMY_ALARM_H
#define _ALCHEMY_ALARM_H

#include <alchemy/timer.h>

#ifndef XNOBJECT_NAME_LEN
#define XNOBJECT_NAME_LEN 32
#endif

typedef struct RT_ALARM {
	uintptr_t handle;
} RT_ALARM;

typedef struct rt_alarm_info {
	unsigned long expiries;
	char name[XNOBJECT_NAME_LEN];
	int active;
} RT_ALARM_INFO;

#ifdef __cplusplus
extern "C" {
#endif

int rt_alarm_create(RT_ALARM *alarm, const char *name, void (*handler)(void *argument), void *argument);
int rt_alarm_delete(RT_ALARM *alarm);
int rt_alarm_start(RT_ALARM *alarm, RTIME first, RTIME interval);
int rt_alarm_stop(RT_ALARM *alarm);
int rt_alarm_inquire(RT_ALARM *alarm, RT_ALARM_INFO *info);

#ifdef __cplusplus
}
#endif

#endif
