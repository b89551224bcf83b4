/* As <asm/rt_time.h>. */
#ifndef LINUX_RT_TIME_H
#define LINUX_RT_TIME_H

#include <asm/rt_time.h>

#endif
