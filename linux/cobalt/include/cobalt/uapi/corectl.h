/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COBALT_UAPI_CORECTL_H
#define _COBALT_UAPI_CORECTL_H

#include <sys/cobalt.h>

#endif
