/* SPDX-License-Identifier: GPL-2.0-only */
/* Files of a process are the C library's. */
#include <fcntl.h>
#include <unistd.h>
