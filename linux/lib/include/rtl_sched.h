/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads of a process are the C library's. */
#include <pthread.h>
#include <sched.h>
#include <rtl_time.h>
