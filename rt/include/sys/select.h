/* Types that the C library's headers expect here. A task has nothing to select from. */
#ifndef PILLION_SYS_SELECT_H
#define PILLION_SYS_SELECT_H

#define __NEED_time_t
#define __NEED_suseconds_t
#define __NEED_struct_timeval
#define __NEED_struct_timespec
#include <bits/alltypes.h>

#endif
