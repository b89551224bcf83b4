/* Time. */
#ifndef LINUX_TIME_H
#define LINUX_TIME_H

#include <time.h>
#include <sys/time.h>
#include <linux/jiffies.h>

#ifdef __cplusplus
extern "C" {
#endif

void do_gettimeofday(struct timeval *time);

#ifdef __cplusplus
}
#endif

#endif
