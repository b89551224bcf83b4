/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _BOILERPLATE_SETUP_H
#define _BOILERPLATE_SETUP_H

#include <xenomai/init.h>
#include <xenomai/tunables.h>

#endif
