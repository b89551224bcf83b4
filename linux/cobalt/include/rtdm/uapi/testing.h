/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RTDM_UAPI_TESTING_H
#define _RTDM_UAPI_TESTING_H

#include <rtdm/testing.h>

#endif
