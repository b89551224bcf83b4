/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of libcobalt share. What primary mode does not have is the C library's, and so is
 * everything if there is no primary mode.
 */
#ifndef COBALT_INTERNAL_H
#define COBALT_INTERNAL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "primary/call.h"
#include "primary/moment.h"

/* Timers of a process that send signals. */
#define COBALT_TIMERS 128

/*
 * Defines this library's function of a name that the C library has as well: __cobalt_NAME, which
 * the program reaches by __wrap_NAME, and by NAME if the linker wraps it; __real_NAME is the C
 * library's.
 */
#define WRAP(result, name, ...)                                                                  \
	result __real_##name(__VA_ARGS__);                                                       \
	result __cobalt_##name(__VA_ARGS__);                                                     \
	__typeof__(__cobalt_##name) __wrap_##name __attribute__((alias("__cobalt_" #name), weak)); \
	result __cobalt_##name(__VA_ARGS__)

/* The result of a function that sets errno. */
static inline long cobalt_told(long result)
{
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

#endif
