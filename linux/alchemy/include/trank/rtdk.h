/* SPDX-License-Identifier: GPL-2.0-only */
/* Output of threads in primary mode, as version 2 had it. */
#ifndef _XENOMAI_TRANK_RTDK_H
#define _XENOMAI_TRANK_RTDK_H

#include <stdio.h>
#include <sys/cobalt.h>
#include <syslog.h>
#include <trank/trank.h>

static inline void assert_nrt(void)
{
	cobalt_assert_nrt();
}

static inline void assert_nrt_fast(void)
{
	cobalt_assert_nrt();
}

#endif
