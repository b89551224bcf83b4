/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs for version 2. */
#ifndef _XENOMAI_TRANK_TRANK_H
#define _XENOMAI_TRANK_TRANK_H

#include <stdint.h>
#include <time.h>
#include <xenomai/version.h>

#define __CURRENT(call) call

typedef unsigned long xnhandle_t;
#ifndef TM_ONESHOT
#define TM_ONESHOT 0
#endif

#endif
