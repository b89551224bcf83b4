/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COBALT_UAPI_SEM_H
#define _COBALT_UAPI_SEM_H

#include <semaphore.h>

#endif
