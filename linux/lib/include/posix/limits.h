/* SPDX-License-Identifier: GPL-2.0-only */
/* The C library's. */
#include <limits.h>
