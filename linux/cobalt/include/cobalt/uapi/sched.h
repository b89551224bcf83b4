/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COBALT_UAPI_SCHED_H
#define _COBALT_UAPI_SCHED_H

#include <sched.h>

#endif
