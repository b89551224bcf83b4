/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COBALT_UAPI_MONITOR_H
#define _COBALT_UAPI_MONITOR_H

#include <sys/cobalt.h>

#endif
