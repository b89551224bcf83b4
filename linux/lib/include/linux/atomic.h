/* SPDX-License-Identifier: GPL-2.0-only */
/* As <asm/atomic.h>. */
#include <asm/atomic.h>
