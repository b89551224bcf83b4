/* SPDX-License-Identifier: GPL-2.0-only */
/* What version 2's native interface had beside its objects. */
#ifndef _XENOMAI_TRANK_NATIVE_TYPES_H
#define _XENOMAI_TRANK_NATIVE_TYPES_H

#include <alchemy/timer.h>
#include <trank/trank.h>

#endif
