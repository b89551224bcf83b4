/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_RTDM_RTIPC_H
#define _XENOMAI_TRANK_RTDM_RTIPC_H

#include <rtdm/ipc.h>

#endif
