/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COBALT_TUNABLES_H
#define _COBALT_TUNABLES_H

#include <xenomai/tunables.h>

#endif
