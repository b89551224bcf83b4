/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A mutex as it lies in the program's: the kind is where the C library has it, which tells its own
 * mutexes from these, and all else is 0 in one that was statically initialised.
 */
#ifndef COBALT_MUTEX_H
#define COBALT_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "primary/mutex.h"

_Static_assert(sizeof(struct primary_mutex) <= sizeof(pthread_mutex_t), "a mutex has room for one");
_Static_assert(offsetof(struct primary_mutex, kind) == offsetof(pthread_mutex_t, __data.__kind), "the kind's place");

/* The one in a program's; NULL: it is the C library's. */
struct primary_mutex *cobalt_mutex(const pthread_mutex_t *mutex);

#endif
