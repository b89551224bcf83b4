/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _XENOMAI_TRANK_NATIVE_QUEUE_H
#define _XENOMAI_TRANK_NATIVE_QUEUE_H

#include <alchemy/queue.h>
#include <trank/native/types.h>

/* Messages are shared in the process only. */
#ifndef Q_SHARED
#define Q_SHARED 0
#endif

#endif
