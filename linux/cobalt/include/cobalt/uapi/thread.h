/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COBALT_UAPI_THREAD_H
#define _COBALT_UAPI_THREAD_H

#include <sys/cobalt.h>

#endif
