/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COPPERPLATE_TUNABLES_H
#define _COPPERPLATE_TUNABLES_H

#include <xenomai/tunables.h>

#endif
