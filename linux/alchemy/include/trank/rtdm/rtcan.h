/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_RTDM_RTCAN_H
#define _XENOMAI_TRANK_RTDM_RTCAN_H

#include <rtdm/can.h>

#endif
