/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_RTDM_RTDM_H
#define _XENOMAI_TRANK_RTDM_RTDM_H

/* By its place: this folder may come before the one that has it, or not be searched at all. */
#include "../../rtdm/rtdm.h"

#endif
