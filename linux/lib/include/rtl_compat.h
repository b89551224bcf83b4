/* SPDX-License-Identifier: GPL-2.0-only */
/* The first interface's times. */
#include <asm/rt_time.h>
