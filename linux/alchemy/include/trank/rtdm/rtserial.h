/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_RTDM_RTSERIAL_H
#define _XENOMAI_TRANK_RTDM_RTSERIAL_H

#include <rtdm/serial.h>

#endif
