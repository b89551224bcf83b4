/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_NATIVE_BUFFER_H
#define _XENOMAI_TRANK_NATIVE_BUFFER_H

#include <alchemy/buffer.h>
#include <trank/native/types.h>

#endif
