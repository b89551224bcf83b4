/* Time of RTLinux's first interface. */
#ifndef ASM_RT_TIME_H
#define ASM_RT_TIME_H

#include <rtl_compat.h>

#endif
