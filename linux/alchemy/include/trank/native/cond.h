/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_NATIVE_COND_H
#define _XENOMAI_TRANK_NATIVE_COND_H

#include <alchemy/cond.h>
#include <trank/native/types.h>

#endif
