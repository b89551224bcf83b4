/* Time: the C library's, with RTLinux's clocks. */
#ifndef PILLION_TIME_H
#define PILLION_TIME_H

#include_next <time.h>
#include <rtl_time.h>

#endif
