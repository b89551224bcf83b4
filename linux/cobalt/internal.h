/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of libcobalt share. An object of the program holds the handle of one in primary
 * mode; what primary mode does not have (objects shared between processes, priority ceilings,
 * robust mutexes) is the C library's, and so is everything if there is no primary mode.
 */
#ifndef COBALT_INTERNAL_H
#define COBALT_INTERNAL_H

#include <pillion_channel.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Declares the C library's function and this library's, which calls of the program reach. */
#define WRAP(result, name, ...)                \
	result __real_##name(__VA_ARGS__);      \
	result __wrap_##name(__VA_ARGS__);      \
	result __wrap_##name(__VA_ARGS__)

/* An object of the program that has one in primary mode. */
#define OURS 0x436f4234

/* Whether there is primary mode. */
bool cobalt_is_there(void);
/* Makes a call of primary mode's own; returns its value, or the negative number of an error. */
long cobalt_call(unsigned int number, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/* Sends SIGDEBUG at each switch to Linux, or no more. */
int cobalt_warn(bool warns);
/* Makes an object for a place that has none, unless another thread does so first. */
int cobalt_make(uint32_t *handle, unsigned int kind, uint64_t value, uint64_t flags);

#define COBALT_CALL(name, a, b, c, d) cobalt_call(PILLION_DUAL_SERVICE_##name, a, b, c, d)

/* A time as nanoseconds; negative if it is none. */
static inline int64_t cobalt_ns(const struct timespec *time)
{
	const long second = 1000000000;

	if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= second || time->tv_sec > INT64_MAX / second - 1)
		return -1;
	return time->tv_sec * second + time->tv_nsec;
}

#endif
