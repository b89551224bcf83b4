/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_NATIVE_SEM_H
#define _XENOMAI_TRANK_NATIVE_SEM_H

#include <alchemy/sem.h>
#include <trank/native/types.h>

#endif
