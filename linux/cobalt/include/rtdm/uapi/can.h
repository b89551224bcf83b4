/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RTDM_UAPI_CAN_H
#define _RTDM_UAPI_CAN_H

#include <rtdm/can.h>

#endif
