/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RTDM_UAPI_SERIAL_H
#define _RTDM_UAPI_SERIAL_H

#include <rtdm/serial.h>

#endif
