/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RTDM_UAPI_IPC_H
#define _RTDM_UAPI_IPC_H

#include <rtdm/ipc.h>

#endif
