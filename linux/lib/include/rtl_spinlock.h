/* SPDX-License-Identifier: GPL-2.0-only */
/* Spin locks of a process are the C library's. */
#include <pthread.h>
