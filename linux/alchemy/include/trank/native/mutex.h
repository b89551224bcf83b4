/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_NATIVE_MUTEX_H
#define _XENOMAI_TRANK_NATIVE_MUTEX_H

#include <alchemy/mutex.h>
#include <trank/native/types.h>

#endif
