/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COBALT_UAPI_MUTEX_H
#define _COBALT_UAPI_MUTEX_H

#include <pthread.h>

#endif
