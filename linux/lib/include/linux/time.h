/* SPDX-License-Identifier: GPL-2.0-only */
/* The C library's, as programs include both; the structures of Linux's own header have the same names. */
#include <time.h>
#include <sys/time.h>
#include <linux/time_types.h>
