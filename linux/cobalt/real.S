/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The C library's functions as `__real_NAME`, for programs in which the linker does not wrap them.
 * Where it does, it offers that name itself. So what uses the name is in other objects.
 */
#include "forward.h"

.macro own name
	jump __real_\name, \name
.endm

.macro same name
	jump __real_\name, \name
.endm

#include "forwards.inc"
