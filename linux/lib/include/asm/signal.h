/* SPDX-License-Identifier: GPL-2.0-only */
/* As <linux/signal.h>. */
#include <signal.h>
