/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COBALT_UAPI_TIME_H
#define _COBALT_UAPI_TIME_H

#include <time.h>

#endif
