/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COBALT_UAPI_SIGNAL_H
#define _COBALT_UAPI_SIGNAL_H

#include <signal.h>

#endif
