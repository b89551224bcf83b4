/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COBALT_UAPI_EVENT_H
#define _COBALT_UAPI_EVENT_H

#include <sys/cobalt.h>

#endif
