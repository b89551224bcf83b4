/* SPDX-License-Identifier: GPL-2.0-only */
/* Ticks, as alchemy/timer.h has them. */
#ifndef _COPPERPLATE_CLOCKOBJ_H
#define _COPPERPLATE_CLOCKOBJ_H

#include <alchemy/timer.h>

#endif
