/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_RTDM_RTTESTING_H
#define _XENOMAI_TRANK_RTDM_RTTESTING_H

#include <rtdm/testing.h>

#endif
