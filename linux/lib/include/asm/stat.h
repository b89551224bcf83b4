/* SPDX-License-Identifier: GPL-2.0-only */
/* The C library's, as programs include both; the structure of Linux's own header has the same name. */
#include <sys/stat.h>
