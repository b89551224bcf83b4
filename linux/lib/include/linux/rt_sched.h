/* SPDX-License-Identifier: GPL-2.0-only */
/* The first interface's tasks are for modules; a process has its times. */
#include <asm/rt_time.h>
