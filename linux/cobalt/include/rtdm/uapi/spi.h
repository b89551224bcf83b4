/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RTDM_UAPI_SPI_H
#define _RTDM_UAPI_SPI_H

#include <rtdm/spi.h>

#endif
