/* SPDX-License-Identifier: GPL-2.0-only */
/* A process has the C library's. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>
