/* SPDX-License-Identifier: GPL-2.0-only */
/* What the POSIX interface of version 2 had; <pthread.h> has the periods. */
#ifndef _XENOMAI_TRANK_POSIX_PTHREAD_H
#define _XENOMAI_TRANK_POSIX_PTHREAD_H

#include <pthread.h>
#include <trank/trank.h>

#endif
