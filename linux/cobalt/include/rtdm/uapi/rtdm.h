/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RTDM_UAPI_RTDM_H
#define _RTDM_UAPI_RTDM_H

#include <rtdm/rtdm.h>

#endif
