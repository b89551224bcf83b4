/* As <rtl_compat.h>. */
#ifndef LINUX_RT_SCHED_H
#define LINUX_RT_SCHED_H

#include <rtl_compat.h>

#endif
