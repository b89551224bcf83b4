/* SPDX-License-Identifier: GPL-2.0-only */
/* Signals of a process are the C library's; those at real-time priority are in <rtlinux_signal.h>. */
#include <signal.h>
