/* SPDX-License-Identifier: GPL-2.0-only */
/* As <asm/bitops.h>. */
#include <asm/bitops.h>
