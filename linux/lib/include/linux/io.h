/* SPDX-License-Identifier: GPL-2.0-only */
/* As <asm/io.h>. */
#include <asm/io.h>
