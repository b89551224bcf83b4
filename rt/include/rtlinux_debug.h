/* As <rtl_debug.h>. */
#ifndef RTLINUX_DEBUG_H
#define RTLINUX_DEBUG_H

#include <rtl_debug.h>

#endif
