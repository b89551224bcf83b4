/* SPDX-License-Identifier: GPL-2.0-only */
/* As <linux/fcntl.h>. */
#include <fcntl.h>
