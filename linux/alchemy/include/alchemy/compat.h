/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of version 2's native interface that have gone: see trank/native. */
#ifndef _ALCHEMY_COMPAT_H
#define _ALCHEMY_COMPAT_H

#include <trank/native/types.h>

#endif
