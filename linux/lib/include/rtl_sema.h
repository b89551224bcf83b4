/* SPDX-License-Identifier: GPL-2.0-only */
/* Semaphores of a process are the C library's. */
#include <semaphore.h>
