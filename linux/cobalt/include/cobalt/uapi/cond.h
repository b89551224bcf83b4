/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COBALT_UAPI_COND_H
#define _COBALT_UAPI_COND_H

#include <pthread.h>

#endif
