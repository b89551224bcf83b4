/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_NATIVE_PIPE_H
#define _XENOMAI_TRANK_NATIVE_PIPE_H

#include <alchemy/pipe.h>
#include <trank/native/types.h>

#endif
