/* SPDX-License-Identifier: GPL-2.0-only */
/* This library's names of functions that are the C library's own. */
#include "forward.h"

.macro own name
.endm

.macro same name
	jump __cobalt_\name, __real_\name
	jump __wrap_\name, __real_\name
.endm

#include "forwards.inc"
