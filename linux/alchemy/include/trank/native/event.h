/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_NATIVE_EVENT_H
#define _XENOMAI_TRANK_NATIVE_EVENT_H

#include <alchemy/event.h>
#include <trank/native/types.h>

#endif
