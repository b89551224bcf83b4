/* Priorities: 0 to 1,000,000; larger is more urgent. Policy: the most urgent ready one runs. */
#ifndef PILLION_SCHED_H
#define PILLION_SCHED_H

#define __NEED_struct_timespec
#define __NEED_pid_t
#define __NEED_time_t
#define __NEED_size_t
#include <bits/alltypes.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define SCHED_RR 2

struct sched_param {
	int sched_priority;
};

int sched_get_priority_max(int policy);
int sched_get_priority_min(int policy);
int sched_yield(void);

#ifdef __cplusplus
}
#endif

#endif
