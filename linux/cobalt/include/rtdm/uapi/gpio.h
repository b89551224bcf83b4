/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RTDM_UAPI_GPIO_H
#define _RTDM_UAPI_GPIO_H

#include <rtdm/gpio.h>

#endif
