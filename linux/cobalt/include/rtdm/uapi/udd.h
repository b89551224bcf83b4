/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RTDM_UAPI_UDD_H
#define _RTDM_UAPI_UDD_H

#include <rtdm/udd.h>

#endif
