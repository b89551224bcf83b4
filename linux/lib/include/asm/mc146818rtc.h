/* SPDX-License-Identifier: GPL-2.0-only */
/* As <linux/mc146818rtc.h>. */
#include <linux/mc146818rtc.h>
