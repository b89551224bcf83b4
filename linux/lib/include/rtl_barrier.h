/* SPDX-License-Identifier: GPL-2.0-only */
/* Barriers of a program in Linux are the C library's. */
#include <pthread.h>
